"""Calls of APIs with parameters in the shape of a template: names in any case, numbers and flags as text."""

import json
from collections.abc import Mapping
from typing import Any

from botocore.model import Shape

from tests.emulated_account.errors import NotEmulated

NUMBERS = {"integer": int, "long": int, "float": float, "double": float}


def call(client: Any, method: str, parameters: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Calls with what the API's model makes of the parameters; one that it does not know is not emulated."""
    operation = client.meta.service_model.operation_model(client.meta.method_to_api_mapping[method])
    given = {**parameters, **more}
    return dict(getattr(client, method)(**shaped(operation.input_shape, given, method)))


def shaped(shape: Shape, value: Any, path: str) -> Any:
    """The value as the shape wants it."""
    if shape.type_name == "structure":
        return _structure(shape, value, path)
    if shape.type_name == "list":
        return [shaped(shape.member, one, path) for one in _pairs(value)]
    if shape.type_name == "map":
        return {key: shaped(shape.value, one, f"{path}.{key}") for key, one in _map(value).items()}
    if shape.type_name == "boolean":
        return str(value).lower() == "true"
    if shape.type_name in NUMBERS:
        return NUMBERS[shape.type_name](value)
    return _text(value) if shape.type_name == "string" else value


def _structure(shape: Shape, value: Mapping[str, Any], path: str) -> dict[str, Any]:
    names = {name.lower(): name for name in shape.members}
    unknown = [name for name in value if name.lower() not in names]
    if unknown:
        raise NotEmulated(f"parameter {unknown[0]} of {path}")
    found = {names[name.lower()]: one for name, one in value.items()}
    return {name: shaped(shape.members[name], one, f"{path}.{name}") for name, one in found.items()}


def _pairs(value: Any) -> list[Any]:
    """Tags as a map where the API wants pairs."""
    return [{"Key": key, "Value": one} for key, one in value.items()] if isinstance(value, Mapping) else list(value)


def _map(value: Any) -> Mapping[str, Any]:
    """Tags as pairs where the API wants a map."""
    return value if isinstance(value, Mapping) else {one["Key"]: one["Value"] for one in value}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else json.dumps(value) if isinstance(value, (dict, list)) else str(value)
