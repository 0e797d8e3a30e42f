"""Lambda functions of this repository, in functions/: each with a role and a log group of its own."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as functions
from aws_cdk import aws_s3 as s3
from constructs import Construct

from lake_constructs.log_group import EncryptedLogGroup, LogSettings

FUNCTIONS = Path(__file__).parent / "functions"
JOB = "{job}"  # stands for the name of a job in the key of its report


class OwnFunction:
    """The parts of a construct that is a function: `role`, and the function itself. handler: "file.function"."""

    def __init__(
        self,
        scope: Construct,
        *,
        handler: str,
        statements: Sequence[iam.PolicyStatement],
        logs: LogSettings,
        timeout: Duration,
        code: functions.Code | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        group = EncryptedLogGroup(scope, "Logs", settings=logs)
        self.role = iam.Role(scope, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        group.grant_write(self.role)
        for statement in statements:
            self.role.add_to_policy(statement)
        self.function = functions.Function(
            scope,
            "Function",
            runtime=functions.Runtime.PYTHON_3_14,
            code=code or functions.Code.from_asset(str(FUNCTIONS), exclude=["__pycache__"]),
            handler=handler,
            role=self.role,
            log_group=group,
            timeout=timeout,
            environment=environment,
        )

    def run_every(self, scope: Construct, time: Duration) -> None:
        """Runs it on a schedule; first when its rights are there."""
        self.function.node.add_dependency(self.role)
        events.Rule(
            scope, "Schedule", schedule=events.Schedule.rate(time), targets=[targets.LambdaFunction(self.function)]
        )


def list_objects(bucket: s3.IBucket, keys: Sequence[str]) -> iam.PolicyStatement:
    """See when these objects were written, but not what is in them."""
    limits = {"StringEquals": {"s3:prefix": list(keys)}}
    return iam.PolicyStatement(actions=["s3:ListBucket"], resources=[bucket.bucket_arn], conditions=limits)
