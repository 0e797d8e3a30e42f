"""What a new template would change, as a change set shows it."""

from typing import Any

from tests.emulated_account.cloudformation.schema import at, replacing
from tests.emulated_account.cloudformation.stack import Deployed, Stack
from tests.emulated_account.cloudformation.template import Declared, mentioned

Change = dict[str, Any]
# A custom resource says itself whether it was replaced, by its physical id.
CUSTOM = ("Custom::", "AWS::CloudFormation::CustomResource")


def changes(stack: Stack, declared: list[Declared]) -> list[Change]:
    """All resources that would be added, changed or removed."""
    wanted = {one.id: one for one in declared}
    replaced: set[str] = set()
    found = []
    for one in declared:
        change = _change(stack, one, replaced)
        if change:
            found.append(change)
            if change["Action"] == "Modify" and change["Replacement"] != "False":
                replaced.add(one.id)
    removed = [one for id, one in stack.resources.items() if id not in wanted]
    return [{"Type": "Resource", "ResourceChange": change} for change in (*found, *map(_removal, removed))]


def _change(stack: Stack, wanted: Declared, replaced: set[str]) -> Change | None:
    standing = stack.resources.get(wanted.id)
    if standing is None:
        return {"Action": "Add", "LogicalResourceId": wanted.id, "ResourceType": wanted.type}
    scope = _scope(standing.declared, wanted, replaced)
    if not scope:
        return None
    return {
        "Action": "Modify",
        "LogicalResourceId": wanted.id,
        "PhysicalResourceId": standing.physical_id,
        "ResourceType": wanted.type,
        "Scope": scope,
        "Replacement": _replacement(stack.region, standing.declared, wanted, replaced),
        "Details": _details(stack.region, standing.declared, wanted),
    }


def _removal(standing: Deployed) -> Change:
    declared = standing.declared
    return {
        "Action": "Remove",
        "LogicalResourceId": declared.id,
        "PhysicalResourceId": standing.physical_id,
        "ResourceType": declared.type,
        "PolicyAction": declared.deletion_policy,
    }


def _scope(before: Declared, after: Declared, replaced: set[str]) -> list[str]:
    parts = {
        "Properties": before.properties != after.properties
        or before.type != after.type
        or bool(mentioned(after.properties) & replaced),
        "Metadata": before.metadata != after.metadata,
        "DeletionPolicy": before.deletion_policy != after.deletion_policy,
        "UpdateReplacePolicy": before.replace_policy != after.replace_policy,
    }
    return [name for name, differs in parts.items() if differs]


def _replacement(region: str, before: Declared, after: Declared, replaced: set[str]) -> str:
    if before.type != after.type:
        return "True"
    if after.type.startswith(CUSTOM):
        return "False"
    if replacing(region, after.type, before.properties, after.properties):
        return "True"
    followers = {key: value for key, value in after.properties.items() if mentioned(value) & replaced}
    return "Conditional" if replacing(region, after.type, {}, followers) else "False"


def _details(region: str, before: Declared, after: Declared) -> list[Change]:
    names = sorted(before.properties.keys() | after.properties.keys())
    return [
        _detail(region, after.type, name, before, after)
        for name in names
        if at(before.properties, [name]) != at(after.properties, [name])
    ]


def _detail(region: str, kind: str, name: str, before: Declared, after: Declared) -> Change:
    one, other = ({name: at(declared.properties, [name])} for declared in (before, after))
    always = not kind.startswith(CUSTOM) and bool(replacing(region, kind, one, other))
    target = {"Attribute": "Properties", "Name": name, "RequiresRecreation": "Always" if always else "Never"}
    return {"Target": target, "Evaluation": "Static", "ChangeSource": "DirectModification"}
