"""A task of ECS that a deployment runs once, and waits for."""

from collections.abc import Sequence

from aws_cdk import Aws, CustomResource, Duration
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from constructs import Construct

from lake_constructs.fargate_task import FargateTask
from lake_constructs.log_group import LogSettings
from lake_constructs.own_function import OwnFunction

PATIENCE = Duration.minutes(10)


class TaskAtDeployment(Construct):
    """functions/run_task.py as a custom resource. Each change of the task runs it again. log: of the task itself."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: ecs.ICluster,
        task: FargateTask,
        subnets: Sequence[ec2.ISubnet],
        group: ec2.ISecurityGroup,
        log: str,
        log_settings: LogSettings,
    ) -> None:
        super().__init__(scope, id)
        starting = OwnFunction(
            self,
            handler="run_task.handler",
            statements=run_task(cluster, task),
            logs=log_settings,
            timeout=PATIENCE,
        )
        self.done = CustomResource(
            self,
            "Done",
            service_token=starting.function.function_arn,
            properties={
                "Cluster": cluster.cluster_arn,
                "Definition": task.task_definition_arn,
                "Subnets": [one.subnet_id for one in subnets],
                "Groups": [group.security_group_id],
                "Log": log,
            },
        )
        # A task that starts before its rights are there fails.
        self.done.node.add_dependency(starting.role, *task.roles)


def run_task(cluster: ecs.ICluster, task: FargateTask) -> list[iam.PolicyStatement]:
    """Run this task in this cluster with its own roles, and see how it ends."""
    here = {"ArnEquals": {"ecs:cluster": cluster.cluster_arn}}
    roles = [one.role_arn for one in task.roles]
    tasks = f"arn:{Aws.PARTITION}:ecs:{Aws.REGION}:{Aws.ACCOUNT_ID}:task/{cluster.cluster_name}/*"
    return [
        iam.PolicyStatement(actions=["ecs:RunTask"], resources=[task.task_definition_arn], conditions=here),
        iam.PolicyStatement(actions=["ecs:DescribeTasks"], resources=[tasks], conditions=here),
        iam.PolicyStatement(actions=["iam:PassRole"], resources=roles),
    ]
