"""Schedules that add steps to an EMR cluster."""

from collections.abc import Mapping
from typing import Any

from aws_cdk import Aws, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

# A step that could not be added for an hour is left out: the next run does its work.
RETRIES = {"maximumEventAgeInSeconds": 3600, "maximumRetryAttempts": 10}


class StepSchedules(Construct):
    """One schedule per entry, its expression and its step; the times are UTC. All are in one group.

    EventBridge Scheduler calls the API of EMR itself, with a role that may add steps to this cluster and nothing else.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        name: str,
        cluster: str,
        entries: Mapping[str, tuple[str, Mapping[str, Any]]],
    ) -> None:
        super().__init__(scope, id)
        group = scheduler.CfnScheduleGroup(self, "Group", name=name)
        role = add_steps_role(self, "Role", cluster=cluster, group=name)
        for entry, (expression, step) in entries.items():
            target = {
                "arn": f"arn:{Aws.PARTITION}:scheduler:::aws-sdk:emr:addJobFlowSteps",
                "roleArn": role.role_arn,
                "input": Stack.of(self).to_json_string({"JobFlowId": cluster, "Steps": [step]}),
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


def add_steps_role(scope: Construct, id: str, *, cluster: str, group: str) -> iam.Role:
    """Add steps to one cluster, for the schedules of one group of this account."""
    place = f"{Aws.PARTITION}:scheduler:{Aws.REGION}:{Aws.ACCOUNT_ID}"
    limits = {
        "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
        "ArnEquals": {"aws:SourceArn": f"arn:{place}:schedule-group/{group}"},
    }
    role = iam.Role(scope, id, assumed_by=iam.ServicePrincipal("scheduler.amazonaws.com", conditions=limits))
    arn = f"arn:{Aws.PARTITION}:elasticmapreduce:{Aws.REGION}:{Aws.ACCOUNT_ID}:cluster/{cluster}"
    role.add_to_policy(iam.PolicyStatement(actions=["elasticmapreduce:AddJobFlowSteps"], resources=[arn]))
    return role
