"""What CloudFormation's own schemas say of a type: cfn-lint carries them."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from cfnlint.schema import PROVIDER_SCHEMA_MANAGER

from tests.emulated_account.errors import Refused

PREFIX = "/properties/"


@cache
def schema(region: str, kind: str) -> dict[str, Any]:
    return dict(PROVIDER_SCHEMA_MANAGER.get_resource_schema(region, kind).schema)


def check(region: str, kind: str, properties: Mapping[str, Any]) -> None:
    """Refused when a property is unknown, missing or only for reading."""
    known = schema(region, kind)
    unknown = sorted(set(properties) - set(known["properties"]))
    if unknown and kind.startswith("AWS::"):
        raise Refused(f"Encountered unsupported property {unknown[0]}")
    missing = sorted(set(known.get("required", [])) - set(properties))
    if missing:
        raise Refused(f"Properties validation failed: required key {missing[0]} not found")
    fixed = {path.removeprefix(PREFIX) for path in known.get("readOnlyProperties", [])}
    if fixed & set(properties):
        raise Refused(f"Encountered read-only property {sorted(fixed & set(properties))[0]}")


def replacing(region: str, kind: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The changed properties for which there must be a new resource."""
    paths = [path.removeprefix(PREFIX).split("/") for path in schema(region, kind).get("createOnlyProperties", [])]
    return sorted({path[0] for path in paths if at(before, path) != at(after, path)})


def at(value: Any, path: list[str]) -> Any:
    """What lies at the path; "*" goes through lists."""
    if not path or value is None:
        return value
    first, rest = path[0], path[1:]
    if first == "*":
        return [at(one, rest) for one in value] if isinstance(value, list) else None
    return at(value.get(first), rest) if isinstance(value, Mapping) else None
