"""A template, read: what it declares, and in which order that can be made."""

import json
from dataclasses import dataclass
from typing import Any

import yaml

from iam.resolver import PLACEHOLDER
from tests.emulated_account.cloudformation.limits import check_content
from tests.emulated_account.errors import Refused

Json = dict[str, Any]
CUSTOM = ("Custom::", "AWS::CloudFormation::CustomResource")
SECTIONS = {
    *("AWSTemplateFormatVersion", "Conditions", "Description", "Mappings", "Metadata"),
    *("Outputs", "Parameters", "Resources", "Rules"),
}


class _Loader(yaml.SafeLoader):
    """Dates stay text: the version of a policy looks like one."""


_Loader.yaml_implicit_resolvers = {
    first: [pair for pair in pairs if pair[0] != "tag:yaml.org,2002:timestamp"]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


@dataclass(frozen=True)
class Declared:
    """A resource as the template declares it, nothing resolved."""

    id: str
    type: str
    properties: Json
    depends_on: tuple[str, ...]
    condition: str | None
    deletion_policy: str
    replace_policy: str
    metadata: Json

    @property
    def needs(self) -> set[str]:
        return {*self.depends_on, *mentioned(self.properties)}


class Template:
    """The parts of a template that are used here; any other part is refused."""

    def __init__(self, text: str) -> None:
        self.text = text
        content = _parsed(text)
        unknown = set(content) - SECTIONS
        if unknown:
            raise Refused(f"Template format error: unknown section {sorted(unknown)[0]}")
        if not content.get("Resources"):
            raise Refused("Template format error: At least one Resources member must be defined.")
        check_content(content)
        self.parameters: Json = content.get("Parameters", {})
        self.conditions: Json = content.get("Conditions", {})
        self.mappings: Json = content.get("Mappings", {})
        self.rules: Json = content.get("Rules", {})
        self.outputs: Json = content.get("Outputs", {})
        self.resources = {id: _declared(id, found) for id, found in content["Resources"].items()}
        self._check_names()

    def _check_names(self) -> None:
        for resource in self.resources.values():
            missing = resource.needs - self.resources.keys() - self.parameters.keys()
            if missing:
                raise Refused(f"Template error: unresolved dependency {sorted(missing)[0]} of {resource.id}")

    def in_order(self) -> list[Declared]:
        """Each resource after those that it needs, else in the order of the template."""
        done: dict[str, Declared] = {}
        waiting = list(self.resources.values())
        while waiting:
            ready = [one for one in waiting if not (one.needs & self.resources.keys()) - done.keys()]
            if not ready:
                raise Refused(f"Circular dependency between resources: {sorted(one.id for one in waiting)}")
            done.update({one.id: one for one in ready})
            waiting = [one for one in waiting if one.id not in done]
        return list(done.values())


def _parsed(text: str) -> Json:
    try:
        return dict(json.loads(text))
    except ValueError:
        return dict(yaml.load(text, _Loader))  # what the loader makes is as safe as SafeLoader's


def _declared(id: str, found: Json) -> Declared:
    known = {
        "Type",
        "Properties",
        "DependsOn",
        "Condition",
        "DeletionPolicy",
        "UpdateReplacePolicy",
        "Metadata",
    }
    unknown = set(found) - known
    if unknown:
        raise Refused(f"Template format error: unknown attribute {sorted(unknown)[0]} of {id}")
    depends = found.get("DependsOn", [])
    return Declared(
        id,
        found["Type"],
        found.get("Properties", {}),
        (depends,) if isinstance(depends, str) else tuple(depends),
        found.get("Condition"),
        found.get("DeletionPolicy", "Delete"),
        found.get("UpdateReplacePolicy", "Delete"),
        found.get("Metadata", {}),
    )


def mentioned(value: Any) -> set[str]:
    """The names that a value refers to, less AWS's own."""
    if isinstance(value, list):
        return {name for one in value for name in mentioned(one)}
    if not isinstance(value, dict):
        return set()
    if len(value) == 1:
        ((function, argument),) = value.items()
        if function == "Ref":
            return {str(argument)} if not argument.startswith("AWS::") else set()
        if function == "Fn::GetAtt":
            return {str(argument[0]) if isinstance(argument, list) else str(argument).partition(".")[0]}
        if function == "Fn::Sub":
            return _in_text(argument)
    return {name for one in value.values() for name in mentioned(one)}


def _in_text(argument: Any) -> set[str]:
    text: str = argument if isinstance(argument, str) else argument[0]
    given: Json = {} if isinstance(argument, str) else argument[1]
    names = {found.partition(".")[0] for found in PLACEHOLDER.findall(text) if not found.startswith("AWS::")}
    return (names - given.keys()) | mentioned(list(given.values()))


def imports(value: Any) -> set[str]:
    """The names of all exports that a value imports."""
    if isinstance(value, list):
        return {name for one in value for name in imports(one)}
    if not isinstance(value, dict):
        return set()
    own = {value["Fn::ImportValue"]} if isinstance(value.get("Fn::ImportValue"), str) else set()
    return own | {name for one in value.values() for name in imports(one)}
