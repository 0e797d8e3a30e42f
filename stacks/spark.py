"""Where the Spark jobs run: one interface for a cluster of EMR and for EMR Serverless."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_ssm as ssm
from constructs import Construct
from lake_constructs.alarms import Alarms
from lake_constructs.ready_steps import ReadySteps
from lake_constructs.step_schedules import StepSchedules

from lake.aws.routines import parameter, scheduled
from lake.aws.stack_outputs import StackOutputs
from stacks.part import Blueprint

Graphs = dict[str, list[Any]]


class Spark(Protocol):
    """group: the security group of the jobs. role: what they may do. id, number and service_role: see StackOutputs."""

    group: ec2.SecurityGroup
    role: iam.Role
    id: str
    number: str
    service_role: str

    def start(self, outputs: StackOutputs) -> None:
        """Starts the continuous jobs with the deployment, and offers the routines."""

    def watch(self, scope: Construct, alarms: Alarms) -> Graphs:
        """Adds the alarms about what runs the jobs, in another stack, and returns graphs for its dashboard."""


def offer(
    stack: Stack,
    blueprint: Blueprint,
    ready: Mapping[str, Any],
    more: Mapping[str, Any],
    *,
    call: str,
    statements: Sequence[iam.PolicyStatement],
    target: Callable[[Any], Any],
) -> None:
    """Routines that Airflow or the schedules of the environment may start. more: what has no schedule.

    call, statements and target: what a schedule calls, its rights, and the request that it makes of a routine.
    """
    environment = blueprint.environment
    named = {parameter(environment.name, name): one for name, one in {**ready, **more}.items()}
    ReadySteps(stack, "Steps", steps=named)
    if environment.operations.schedule:
        entries = scheduled(environment, ready, target)
        StepSchedules(stack, "Schedules", name=blueprint.name, call=call, statements=statements, entries=entries)


def publish_id(stack: Stack, environment: str, id: str) -> None:
    """Other stacks read the id from a parameter: an output that they import could not change with what it names."""
    ssm.CfnParameter(stack, "ClusterId", name=_parameter(environment), type="String", value=id)


def id_elsewhere(scope: Construct, stack: Stack, environment: str) -> str:
    """The published id in another stack, which is then deployed after the one that published it."""
    Stack.of(scope).add_stack_dependency(stack)
    return ssm.StringParameter.value_for_string_parameter(scope, _parameter(environment))


def _parameter(environment: str) -> str:
    return f"/lake/{environment}/cluster"
