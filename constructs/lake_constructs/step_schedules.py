"""Schedules that start work on EMR: steps of a cluster, or job runs of EMR Serverless."""

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import Aws, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

# Work that could not be started for an hour is left out: the next run does it.
RETRIES = {"maximumEventAgeInSeconds": 3600, "maximumRetryAttempts": 10}


class StepSchedules(Construct):
    """One schedule per entry, its expression and the input of its call; the times are UTC. All are in one group.

    EventBridge Scheduler calls the API itself: call is service and operation, as in "emr:addJobFlowSteps". Its role may
    do what the statements say and nothing else.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        name: str,
        call: str,
        statements: Sequence[iam.PolicyStatement],
        entries: Mapping[str, tuple[str, Mapping[str, Any]]],
    ) -> None:
        super().__init__(scope, id)
        group = scheduler.CfnScheduleGroup(self, "Group", name=name)
        role = scheduling_role(self, "Role", group=name, statements=statements)
        for entry, (expression, wish) in entries.items():
            target = {
                "arn": f"arn:{Aws.PARTITION}:scheduler:::aws-sdk:{call}",
                "roleArn": role.role_arn,
                "input": Stack.of(self).to_json_string(wish),
                "retryPolicy": RETRIES,
            }
            schedule = scheduler.CfnSchedule(
                self,
                entry,
                name=entry,
                group_name=group.ref,
                schedule_expression=expression,
                schedule_expression_timezone="UTC",
                flexible_time_window={"mode": "OFF"},
                target=target,
            )
            schedule.node.add_dependency(role)  # its policy: the service tries the role when the schedule is made


def scheduling_role(scope: Construct, id: str, *, group: str, statements: Sequence[iam.PolicyStatement]) -> iam.Role:
    """For the schedules of one group of this account."""
    place = f"{Aws.PARTITION}:scheduler:{Aws.REGION}:{Aws.ACCOUNT_ID}"
    limits = {
        "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
        "ArnEquals": {"aws:SourceArn": f"arn:{place}:schedule-group/{group}"},
    }
    role = iam.Role(scope, id, assumed_by=iam.ServicePrincipal("scheduler.amazonaws.com", conditions=limits))
    for statement in statements:
        role.add_to_policy(statement)
    return role


def add_steps(cluster: str) -> iam.PolicyStatement:
    """Add steps to one cluster."""
    arn = f"arn:{Aws.PARTITION}:elasticmapreduce:{Aws.REGION}:{Aws.ACCOUNT_ID}:cluster/{cluster}"
    return iam.PolicyStatement(actions=["elasticmapreduce:AddJobFlowSteps"], resources=[arn])
