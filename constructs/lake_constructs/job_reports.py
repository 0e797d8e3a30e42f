"""A function that reports how fresh the tables are, where no node of a cluster can do it."""

from collections.abc import Sequence
from pathlib import Path

from aws_cdk import Duration, IgnoreMode
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as functions
from aws_cdk import aws_s3 as s3
from constructs import Construct

from lake_constructs.log_group import LogSettings
from lake_constructs.metrics import report_metrics
from lake_constructs.own_function import JOB, OwnFunction, list_objects

PACKAGE = Path(__file__).parent
# The function, and what it shares with the program on a cluster.
PARTS = ("__init__.py", "functions", "functions/report_jobs.py", "scripts", "scripts/report_freshness.py")


class JobReports(Construct):
    """functions/report_jobs.py every minute. status: the key of a job's report in the bucket, with JOB."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        environment: str,
        bucket: s3.IBucket,
        status: str,
        jobs: Sequence[str],
        logs: LogSettings,
    ) -> None:
        super().__init__(scope, id)
        reports = [status.replace(JOB, job) for job in jobs]
        assert bucket.encryption_key
        package = PACKAGE.name
        reporting = OwnFunction(
            self,
            handler=f"{package}.functions.report_jobs.handler",
            statements=[
                list_objects(bucket, reports),
                iam.PolicyStatement(
                    actions=["s3:GetObject"], resources=[bucket.arn_for_objects(key) for key in reports]
                ),
                iam.PolicyStatement(actions=["kms:Decrypt"], resources=[bucket.encryption_key.key_arn]),
                report_metrics(),
            ],
            logs=logs,
            timeout=Duration.seconds(50),
            code=functions.Code.from_asset(
                str(PACKAGE.parent),
                exclude=["*", f"!{package}", *(f"!{package}/{part}" for part in PARTS)],
                ignore_mode=IgnoreMode.GIT,
            ),
            environment={
                "ENVIRONMENT": environment,
                "BUCKET": bucket.bucket_name,
                "STATUS": status,
                "JOBS": ",".join(jobs),
            },
        )
        reporting.run_every(self, Duration.minutes(1))
