"""What a template's parameters stand for."""

from collections.abc import Mapping
from typing import Any

from iam.resolver import Resolver, Scope
from tests.emulated_account.cloudformation.limits import check_parameters
from tests.emulated_account.cloudformation.stack import Stack
from tests.emulated_account.cloudformation.template import Template
from tests.emulated_account.cloudformation.world import World
from tests.emulated_account.errors import NotEmulated, Refused

SSM = "AWS::SSM::Parameter::Value<String>"
PLAIN = ("String", "Number")


def given(stack: Stack, template: Template, wishes: list[dict[str, Any]]) -> dict[str, str]:
    """The parameters as wished, as they were before, or by default."""
    found = {key: declared["Default"] for key, declared in template.parameters.items() if "Default" in declared}
    for wish in wishes:
        name = wish["ParameterKey"]
        found[name] = stack.parameters[name] if wish.get("UsePreviousValue") else wish["ParameterValue"]
    if set(found) != set(template.parameters):
        odd = sorted(set(found) ^ set(template.parameters))
        raise Refused(f"Parameters: [{', '.join(odd)}] must have values, or do not exist in the template")
    values = {name: str(value) for name, value in found.items()}
    check_parameters(values)
    return values


def resolved(world: World, region: str, template: Template, values: Mapping[str, str]) -> dict[str, Any]:
    return {name: _value(world, region, template.parameters[name]["Type"], value) for name, value in values.items()}


def _value(world: World, region: str, kind: str, value: str) -> Any:
    if kind == SSM:
        return world.parameter(region, value)
    if kind == "CommaDelimitedList":
        return [one.strip() for one in value.split(",")] if value else []
    if kind not in PLAIN:
        raise NotEmulated(f"parameter type {kind}")
    return value


def scope_of(world: World, stack: Stack, template: Template, values: Mapping[str, str]) -> Scope:
    """All names that a template may use, with what stands already."""
    region = stack.region
    parameters = resolved(world, region, template, values)
    scope = Scope(
        template.conditions,
        template.mappings,
        {id: one.type for id, one in template.resources.items()},
        parameters,
        world.pseudo(stack),
        world.zones(region),
        lambda name: world.imported(region, name),
    )
    scope.ids.update({id: one.physical_id for id, one in stack.resources.items()})
    scope.attributes.update({id: one.attributes for id, one in stack.resources.items()})
    return scope


def check_rules(template: Template, scope: Scope) -> None:
    """Refused when an assertion of the template does not hold."""
    resolve = Resolver(scope)
    for rule in template.rules.values():
        for assertion in rule["Assertions"]:
            if not resolve(assertion["Assert"]):
                raise Refused(f"Template error: {assertion['AssertDescription']}")
