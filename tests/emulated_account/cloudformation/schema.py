"""What CloudFormation's own schemas say of a type: cfn-lint carries them, and reads values by them."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from cfnlint.jsonschema import CfnTemplateValidator
from cfnlint.schema import PROVIDER_SCHEMA_MANAGER

from tests.emulated_account.errors import Refused

PREFIX = "/properties/"
LATER = "{{resolve:"  # a value that is read while the resource is made


@cache
def schema(region: str, kind: str) -> dict[str, Any]:
    return dict(PROVIDER_SCHEMA_MANAGER.get_resource_schema(region, kind).schema)


def check(region: str, kind: str, properties: Mapping[str, Any]) -> None:
    """Refused when a property is unknown, missing, only for reading, or not as the schema wants it."""
    known = schema(region, kind)
    unknown = [] if "patternProperties" in known else sorted(set(properties) - set(known["properties"]))
    if unknown and kind.startswith("AWS::"):
        raise Refused(f"Encountered unsupported property {unknown[0]}")
    missing = sorted(set(known.get("required", [])) - set(properties))
    if missing:
        raise Refused(f"Properties validation failed: required key {missing[0]} not found")
    fixed = {path.removeprefix(PREFIX) for path in known.get("readOnlyProperties", [])}
    if fixed & set(properties):
        raise Refused(f"Encountered read-only property {sorted(fixed & set(properties))[0]}")
    if kind.startswith("AWS::"):
        _check_values(region, kind, json.dumps(properties))


@cache
def _check_values(region: str, kind: str, properties: str) -> None:
    """Lengths, patterns, numbers and words of all properties; "2" is a number here, and "true" a truth."""
    validator = CfnTemplateValidator(schema=schema(region, kind))
    lenient = validator.evolve(context=validator.context.evolve(strict_types=False))
    for error in lenient.iter_errors(json.loads(properties)):
        if LATER not in str(error.instance):
            where = "/".join(map(str, error.path))
            raise Refused(f"Properties validation failed: #/{where}: keyword [{error.validator}]: {error.message}")


def create_only(region: str, kind: str) -> set[str]:
    """The properties with which there must be a new resource when they change."""
    return {path.removeprefix(PREFIX).split("/")[0] for path in schema(region, kind).get("createOnlyProperties", [])}


def replacing(region: str, kind: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The changed properties for which there must be a new resource."""
    return _changed(schema(region, kind).get("createOnlyProperties", []), before, after)


def perhaps_replacing(region: str, kind: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The changed properties for which there must be a new resource under conditions that no schema knows."""
    return _changed(schema(region, kind).get("conditionalCreateOnlyProperties", []), before, after)


def _changed(paths: list[str], before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    found = [path.removeprefix(PREFIX).split("/") for path in paths]
    return sorted({path[0] for path in found if at(before, path) != at(after, path)})


def custom_name(region: str, kind: str, properties: Mapping[str, Any]) -> str:
    """The name that a template gave to a resource, and that no second one can have; empty without such a name.

    It is the type's primary identifier, where that is written and not read: the names of a configuration of MSK or
    of a secret are no identifiers, and it is their services that refuse a second one.
    """
    known = schema(region, kind)
    paths = known.get("primaryIdentifier", [])
    values = [at(properties, path.removeprefix(PREFIX).split("/")) for path in paths]
    written = set(paths) <= set(known.get("createOnlyProperties", []))
    return "|".join(map(str, values)) if written and None not in values else ""


def at(value: Any, path: list[str]) -> Any:
    """What lies at the path; "*" goes through lists."""
    if not path or value is None:
        return value
    first, rest = path[0], path[1:]
    if first == "*":
        return [at(one, rest) for one in value] if isinstance(value, list) else None
    return at(value.get(first), rest) if isinstance(value, Mapping) else None
