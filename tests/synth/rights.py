"""The rights of a role as its template states them, in words that a test can compare."""

from typing import Any

Template = dict[str, Any]


def text(value: Any) -> str:
    """A value of CloudFormation as one text; what is known at deployment only stands in <>."""
    if isinstance(value, str):
        return value
    if "Fn::Join" in value:
        separator, parts = value["Fn::Join"]
        return separator.join(text(part) for part in parts)
    if "Fn::GetAtt" in value:
        return "<{}>".format(".".join(value["Fn::GetAtt"]))
    (kind, inner), *_ = value.items()
    return f"<{inner}>" if kind in ("Ref", "Fn::Sub") else f"<{text_of_call(kind, inner)}>"


def text_of_call(kind: str, inner: Any) -> str:
    if kind == "Fn::ImportValue":
        return str(inner).partition(":")[2]
    return kind


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def statements(template: Template, role: str) -> list[dict[str, Any]]:
    """All statements of the policies attached to the role whose logical id begins with this.

    The CDK moves what is too much for a policy in the role into a managed one.
    """
    found = []
    for resource in template["Resources"].values():
        if resource["Type"] not in ("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy"):
            continue
        roles = [text(one) for one in resource["Properties"].get("Roles", [])]
        if any(name.startswith(f"<{role}") for name in roles):
            found += resource["Properties"]["PolicyDocument"]["Statement"]
    return found


def allowed(template: Template, role: str, service: str) -> dict[str, set[str]]:
    """Action -> the last parts of the resources it is allowed on, for one service."""
    rights: dict[str, set[str]] = {}
    for statement in statements(template, role):
        assert statement["Effect"] == "Allow"
        for action in listed(statement["Action"]):
            if action.startswith(f"{service}:"):
                resources = {text(one) for one in listed(statement["Resource"])}
                rights.setdefault(action.partition(":")[2], set()).update(resources)
    return rights


def names(resources: set[str]) -> set[str]:
    """What stands behind the last slash: the name of a topic or a group."""
    return {one.rpartition("/")[2] for one in resources}
