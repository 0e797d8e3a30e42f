"""The page of an environment, for who reviews it: what its templates say, as tables."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from lake.aws.cost import Item
from tests.emulated_account.cloudformation.schema import create_only, custom_name
from tests.synth.rights import listed, text

GROUP = "AWS::EC2::SecurityGroup"
EXPORT = re.compile(r"ExportsOutput(?:FnGetAtt|Ref)(\w+?)[0-9A-F]{8}(\w*)")  # the CDK's name of what a stack exports
POLICIES = ("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy")
# Resources that hold what cannot be made again, and the words by which a type protects itself.
HOLDERS = (
    "AWS::S3::Bucket",
    "AWS::RDS::DBInstance",
    "AWS::KMS::Key",
    "AWS::MSK::Cluster",
    "AWS::MSK::ServerlessCluster",
)
PROTECTION = ("DeletionProtection", "DeletionProtectionEnabled")
ANYWHERE = ("0.0.0.0/0", "::/0")


@dataclass(frozen=True)
class Deployed:
    """One resource of one stack. id: its logical id without the hash of the CDK."""

    part: str
    id: str
    kind: str
    properties: dict[str, Any]
    kept: str  # DeletionPolicy, or ""


def page(name: str, region: str, templates: dict[str, dict[str, Any]], items: Iterable[Item]) -> str:
    """The whole page as Markdown."""
    found = [one for part, template in templates.items() for one in deployed(part, template)]
    sections = {
        "Cost": table(("what", "count", "dollars a month"), cost(items)),
        "Resources": table(("stack", "type", "names, or how many"), resources(region, found)),
        "Who reaches whom": table(("to", "port", "from"), sorted(set(reaches(found)))),
        "Who may do what": table(("role", "actions", "on"), rights(found)),
        "What outlives its stack": table(("stack", "resource", "when the stack is deleted"), kept(found)),
        "What a change replaces": table(("type", "a change of"), replaced(region, found)),
    }
    body = "\n\n".join(f"## {title}\n\n{rows}" for title, rows in sections.items())
    return f"{head(name)}\n\n{body}\n"


def head(name: str) -> str:
    return (
        f"# The environment `{name}`, as it is deployed\n\n"
        "Generated from its templates by `make pages`; a test keeps it equal to them. Names in `<>` are known at the\n"
        "deployment only. [deploy.md](../deploy.md) explains the stacks."
    )


def deployed(part: str, template: dict[str, Any]) -> Iterator[Deployed]:
    for id, resource in template["Resources"].items():
        if resource["Type"] != "AWS::CDK::Metadata":
            kept = resource.get("DeletionPolicy", "")
            yield Deployed(part, short(id), resource["Type"], resource.get("Properties", {}), kept)


def short(id: str) -> str:
    return re.sub(r"[0-9A-F]{8}(?=\b|$)", "", id)


def said(value: Any) -> str:
    """A value of a template as a text in a table."""
    return short(EXPORT.sub(r"\1.\2", text(value))).replace("|", "\\|")


def table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cost(items: Iterable[Item]) -> list[tuple[str, ...]]:
    listed_items = list(items)
    rows = [(item.what, f"{item.count:g}", f"{item.month:.2f}") for item in listed_items]
    return [*rows, ("**sum**", "", f"**{sum(item.month for item in listed_items):.0f}**")]


def resources(region: str, found: list[Deployed]) -> list[tuple[str, ...]]:
    """A row per stack and type."""
    groups: dict[tuple[str, str], list[Deployed]] = {}
    for one in found:
        groups.setdefault((one.part, one.kind), []).append(one)
    return [(part, kind, names(region, ones)) for (part, kind), ones in groups.items()]


def names(region: str, ones: list[Deployed]) -> str:
    own = sorted({said(name) for one in ones if (name := name_of(region, one))})
    others = len(ones) - len(own)
    return ", ".join([*(f"`{name}`" for name in own), *([str(others)] if others else [])])


def name_of(region: str, one: Deployed) -> Any:
    """The physical name in the template, if it has one."""
    name = custom_name(region, one.kind, one.properties) if one.kind.startswith("AWS::") else ""
    return name if name and not name.startswith("{") else one.properties.get("Name", "")


def reaches(found: list[Deployed]) -> Iterator[tuple[str, str, str]]:
    for one in found:
        if one.kind == GROUP:
            for rule in one.properties.get("SecurityGroupIngress", []):
                yield f"{one.part}: {one.id}", port(rule), origin(rule)
        if one.kind == f"{GROUP}Ingress":
            yield said(one.properties["GroupId"]), port(one.properties), origin(one.properties)


def port(rule: dict[str, Any]) -> str:
    first, last = rule.get("FromPort"), rule.get("ToPort")
    if str(rule["IpProtocol"]) == "-1" or first in (None, -1):
        return "all"
    return str(first) if first == last else f"{first} to {last}"


def origin(rule: dict[str, Any]) -> str:
    if rule.get("CidrIp") in ANYWHERE:
        return "**anywhere**"
    return said(rule.get("SourceSecurityGroupId") or rule.get("CidrIp") or rule.get("SourcePrefixListId") or "?")


def rights(found: list[Deployed]) -> list[tuple[str, ...]]:
    """A row per statement: a policy's own, or one inside its role."""
    rows = []
    for one in found:
        if one.kind in POLICIES:
            roles = ", ".join(said(role).strip("<>") for role in one.properties.get("Roles", [])) or one.id
            rows += [(f"{one.part}: {roles}", *right(each)) for each in statements(one.properties)]
        if one.kind == "AWS::IAM::Role":
            inline = [each for policy in one.properties.get("Policies", []) for each in statements(policy)]
            rows += [(f"{one.part}: {one.id}", *right(each)) for each in inline]
    return sorted(rows)


def statements(policy: dict[str, Any]) -> list[dict[str, Any]]:
    return listed(policy["PolicyDocument"]["Statement"])


def right(statement: dict[str, Any]) -> tuple[str, str]:
    """Actions by service, and resources."""
    services: dict[str, list[str]] = {}
    for action in listed(statement["Action"]):
        service, _, verb = action.partition(":")
        services.setdefault(service, []).append(verb)
    actions = "; ".join(f"{service}: {', '.join(verbs)}" for service, verbs in services.items())
    refused = "**never** " if statement["Effect"] == "Deny" else ""
    return refused + actions.replace("*", "\\*"), brief([said(one) for one in listed(statement["Resource"])])


def brief(values: list[str]) -> str:
    shown = sorted(set(values))
    more = f" and {len(shown) - 4} more" if len(shown) > 5 else ""
    return ", ".join(f"`{one}`" for one in (shown[:4] if more else shown)) + more


def kept(found: list[Deployed]) -> list[tuple[str, ...]]:
    rows = []
    for one in found:
        protected = any(one.properties.get(word) is True for word in PROTECTION)
        if one.kind in HOLDERS or one.kept in ("Retain", "Snapshot"):
            fate = {"Retain": "is kept", "Snapshot": "leaves a snapshot"}.get(one.kept, "is deleted with it")
            rows.append((one.part, f"{one.id} ({one.kind})", fate + (", protected" if protected else "")))
    return rows


def replaced(region: str, found: list[Deployed]) -> list[tuple[str, ...]]:
    """The properties that the templates set, and with which CloudFormation makes another resource."""
    changes: dict[str, set[str]] = {}
    for one in found:
        if one.kind.startswith("AWS::"):
            changes.setdefault(one.kind, set()).update(create_only(region, one.kind) & set(one.properties))
    return [(kind, ", ".join(sorted(names))) for kind, names in sorted(changes.items()) if names]
