"""A task of ECS that a deployment runs once, and waits for."""

from collections.abc import Sequence

from aws_cdk import Aws, CustomResource, Duration
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as functions
from constructs import Construct

from lake_constructs.fargate_task import FargateTask
from lake_constructs.job_restarts import FUNCTIONS
from lake_constructs.log_group import EncryptedLogGroup, LogSettings

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
        own_log = EncryptedLogGroup(self, "Logs", settings=log_settings)
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        own_log.grant_write(role)
        for statement in run_task(cluster, task):
            role.add_to_policy(statement)
        function = functions.Function(
            self,
            "Function",
            runtime=functions.Runtime.PYTHON_3_14,
            code=functions.Code.from_asset(str(FUNCTIONS), exclude=["__pycache__"]),
            handler="run_task.handler",
            role=role,
            log_group=own_log,
            timeout=PATIENCE,
        )
        self.done = CustomResource(
            self,
            "Done",
            service_token=function.function_arn,
            properties={
                "Cluster": cluster.cluster_arn,
                "Definition": task.task_definition_arn,
                "Subnets": [one.subnet_id for one in subnets],
                "Groups": [group.security_group_id],
                "Log": log,
            },
        )
        # A task that starts before its rights are there fails.
        self.done.node.add_dependency(role, *task.roles)


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
