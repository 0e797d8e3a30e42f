"""What a new template would change, as a change set shows it."""

from collections.abc import Mapping
from typing import Any

from tests.emulated_account.cloudformation.schema import at, perhaps_replacing, replacing
from tests.emulated_account.cloudformation.stack import Deployed, Stack
from tests.emulated_account.cloudformation.template import CUSTOM, Declared, mentioned

Change = dict[str, Any]
IMPACTS = {"Always": "True", "Conditionally": "Conditional", "Never": "False"}


def changes(stack: Stack, declared: list[Declared], parameters: Mapping[str, Any]) -> list[Change]:
    """All resources that would be added, changed or removed. parameters: what they stand for now."""
    wanted = {one.id: one for one in declared}
    # A reference to a parameter changes with its value, also with that of a parameter of Systems Manager.
    replaced = {name for name, value in parameters.items() if stack.known.get(name) != value}
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
    details = _details(stack.region, standing.declared, wanted, replaced)
    replacement = "True" if standing.declared.type != wanted.type else _replacement(details)
    policy = {} if replacement == "False" else {"PolicyAction": f"ReplaceAnd{standing.declared.replace_policy}"}
    return {
        "Action": "Modify",
        "LogicalResourceId": wanted.id,
        "PhysicalResourceId": standing.physical_id,
        "ResourceType": wanted.type,
        "Scope": scope,
        "Replacement": replacement,
        "Details": details,
        **policy,
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


def _replacement(details: list[Change]) -> str:
    """By the detail with the most impact; one that depends on another resource's new id may change nothing."""
    impacts = {
        "Conditional" if one["Evaluation"] == "Dynamic" and impact == "True" else impact
        for one in details
        if (impact := IMPACTS[one["Target"]["RequiresRecreation"]])
    }
    return next((word for word in ("True", "Conditional") if word in impacts), "False")


def _details(region: str, before: Declared, after: Declared, replaced: set[str]) -> list[Change]:
    """A detail per property that differs, and per property that names a resource which is replaced."""
    found = []
    for name in sorted(before.properties.keys() | after.properties.keys()):
        values = [{name: at(one.properties, [name])} for one in (before, after)]
        causes = sorted(mentioned(values[1]) & replaced)
        if values[0] != values[1]:
            target = _target(name, _recreation(region, after.type, *values))
            found.append({"Target": target, "Evaluation": "Static", "ChangeSource": "DirectModification"})
        elif causes:
            cause = {"ChangeSource": "ResourceReference", "CausingEntity": causes[0]}
            target = _target(name, _recreation(region, after.type, {}, values[1]))
            found.append({"Target": target, "Evaluation": "Dynamic", **cause})
    return found


def _target(name: str, recreation: str) -> Change:
    return {"Attribute": "Properties", "Name": name, "RequiresRecreation": recreation}


def _recreation(region: str, kind: str, before: dict[str, Any], after: dict[str, Any]) -> str:
    if kind.startswith(CUSTOM):  # it says itself whether it was replaced, by its physical id
        return "Never"
    if replacing(region, kind, before, after):
        return "Always"
    return "Conditionally" if perhaps_replacing(region, kind, before, after) else "Never"
