"""A function that starts continuous jobs again after YARN gave them up."""

from collections.abc import Sequence
from pathlib import Path

from aws_cdk import Aws, Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as functions
from aws_cdk import aws_s3 as s3
from constructs import Construct

from lake_constructs.log_group import EncryptedLogGroup, LogSettings

FUNCTIONS = Path(__file__).parent / "functions"
EVERY = Duration.minutes(5)
JOB = "{job}"  # stands for the name of a job in the key of its report


class JobRestarts(Construct):
    """functions/restart_jobs.py on a schedule, with rights on one cluster only.

    status: the key of a job's report in the bucket, with JOB. A step of EMR ends when YARN accepts the job, so no event
    tells of the end of the job itself: its silence does.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: str,
        bucket: s3.IBucket,
        status: str,
        jobs: Sequence[str],
        logs: LogSettings,
    ) -> None:
        super().__init__(scope, id)
        group = EncryptedLogGroup(self, "Logs", settings=logs)
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        group.grant_write(role)
        reports = [status.replace(JOB, job) for job in jobs]
        for statement in (submit_steps(cluster), list_objects(bucket, reports)):
            role.add_to_policy(statement)
        self._function = functions.Function(
            self,
            "Function",
            runtime=functions.Runtime.PYTHON_3_14,
            code=functions.Code.from_asset(str(FUNCTIONS), exclude=["__pycache__"]),
            handler="restart_jobs.handler",
            role=role,
            log_group=group,
            timeout=Duration.minutes(1),
            environment={"CLUSTER": cluster, "BUCKET": bucket.bucket_name, "STATUS": status, "JOBS": ",".join(jobs)},
        )
        self._function.node.add_dependency(role)
        target = targets.LambdaFunction(self._function)
        events.Rule(self, "Schedule", schedule=events.Schedule.rate(EVERY), targets=[target])

    @property
    def failures(self) -> cloudwatch.Metric:
        """How often it could not start a job again, or not any more."""
        return self._function.metric_errors(period=EVERY, statistic="Sum")


def submit_steps(cluster: str) -> iam.PolicyStatement:
    """Look at one cluster and its steps, and add steps."""
    arn = f"arn:{Aws.PARTITION}:elasticmapreduce:{Aws.REGION}:{Aws.ACCOUNT_ID}:cluster/{cluster}"
    actions = ["DescribeCluster", "ListSteps", "AddJobFlowSteps"]
    return iam.PolicyStatement(actions=[f"elasticmapreduce:{name}" for name in actions], resources=[arn])


def list_objects(bucket: s3.IBucket, keys: Sequence[str]) -> iam.PolicyStatement:
    """See when these objects were written, but not what is in them."""
    limits = {"StringEquals": {"s3:prefix": list(keys)}}
    return iam.PolicyStatement(actions=["s3:ListBucket"], resources=[bucket.bucket_arn], conditions=limits)
