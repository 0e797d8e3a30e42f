"""The functions of a template, resolved."""

import base64
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from iam.errors import NotEmulated, Refused

PLACEHOLDER = re.compile(r"\$\{([^!}][^}]*)\}")  # ${Name} of Fn::Sub, but not the literal ${!Name}
NOTHING = object()  # what AWS::NoValue gives: the key disappears
SECRET = re.compile(r"\{\{resolve:secretsmanager:(.+?):SecretString:([^:}]*):[^}]*\}\}")
Function = Callable[[Any], Any]


@dataclass
class Scope:
    """What names stand for while a stack is made."""

    conditions: Mapping[str, Any]
    mappings: Mapping[str, Any]
    types: Mapping[str, str]  # logical id -> type
    parameters: Mapping[str, Any]
    pseudo: Mapping[str, Any]  # AWS::Region and the like
    zones: list[str]
    exports: Callable[[str], str]
    ids: dict[str, str] = field(default_factory=dict)  # logical id -> physical id
    attributes: dict[str, Mapping[str, Any]] = field(default_factory=dict)


class Resolver:
    """Resolves any value of a template; a name that stands for nothing is refused."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._functions: dict[str, Function] = {
            "Ref": self._ref,
            "Fn::GetAtt": self._attribute,
            "Fn::Join": lambda given: given[0].join(str(one) for one in self(given[1])),
            "Fn::Split": lambda given: self(given[1]).split(given[0]),
            "Fn::Select": lambda given: self(given[1])[int(self(given[0]))],
            "Fn::Sub": self._sub,
            "Fn::ImportValue": lambda given: self._scope.exports(self(given)),
            "Fn::GetAZs": self._zones,
            "Fn::Base64": lambda given: base64.b64encode(self(given).encode()).decode(),
            "Fn::FindInMap": self._mapped,
            "Fn::If": lambda given: self(given[1] if self.condition(given[0]) else given[2]),
            "Fn::Equals": lambda given: self(given[0]) == self(given[1]),
            "Fn::Not": lambda given: not self(given[0]),
            "Fn::And": lambda given: all(self(one) for one in given),
            "Fn::Or": lambda given: any(self(one) for one in given),
            "Fn::Contains": lambda given: self(given[1]) in self(given[0]),
            "Condition": self.condition,
        }

    def __call__(self, value: Any) -> Any:
        if isinstance(value, list):
            return [one for one in map(self, value) if one is not NOTHING]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            ((name, argument),) = value.items()
            if name in self._functions and (name != "Condition" or isinstance(argument, str)):
                return self._functions[name](argument)
            if name.startswith("Fn::"):
                raise NotEmulated(f"function {name}")
        resolved = {key: self(one) for key, one in value.items()}
        return {key: one for key, one in resolved.items() if one is not NOTHING}

    def condition(self, name: str) -> bool:
        if name not in self._scope.conditions:
            raise Refused(f"Template error: unresolved condition {name}")
        return bool(self(self._scope.conditions[name]))

    def _ref(self, name: str) -> Any:
        if name == "AWS::NoValue":
            return NOTHING
        for known in (self._scope.pseudo, self._scope.parameters, self._scope.ids):
            if name in known:
                return known[name]
        raise Refused(f"Template error: {name} stands for nothing")

    def _attribute(self, given: Any) -> Any:
        id, name = given if isinstance(given, list) else given.split(".", 1)
        found = self._scope.attributes.get(id, {})
        if name not in found:
            raise NotEmulated(f"attribute {name} of {self._scope.types[id]} ({id})")
        return found[name]

    def _sub(self, given: Any) -> str:
        text, names = (given, {}) if isinstance(given, str) else given

        def value(match: re.Match[str]) -> str:
            name = match[1]
            if name in names:
                return str(self(names[name]))
            return str(self._attribute(name) if "." in name else self._ref(name))

        return PLACEHOLDER.sub(value, text).replace("${!", "${")

    def _zones(self, region: Any) -> list[str]:
        if self(region) not in ("", self._scope.pseudo["AWS::Region"]):
            raise NotEmulated(f"zones of another region, {self(region)}")
        return self._scope.zones

    def _mapped(self, given: list[Any]) -> Any:
        table, row, column = (self(one) for one in given)
        return self._scope.mappings[table][row][column]


def revealed(value: Any, read: Callable[[str], str]) -> Any:
    """With secrets in the place of {{resolve:secretsmanager:...}}; read gives the text of a secret."""
    if isinstance(value, list):
        return [revealed(one, read) for one in value]
    if isinstance(value, dict):
        return {key: revealed(one, read) for key, one in value.items()}
    if not isinstance(value, str) or "{{resolve:" not in value:
        return value
    shown = SECRET.sub(lambda match: str(json.loads(read(match[1]))[match[2]]), value)
    if "{{resolve:" in shown:
        raise NotEmulated(f"dynamic reference {value}")
    return shown
