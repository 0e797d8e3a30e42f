"""A function that starts continuous jobs again after YARN gave them up."""

from collections.abc import Sequence

from aws_cdk import Aws, Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from lake_constructs.log_group import LogSettings
from lake_constructs.own_function import JOB, OwnFunction, list_objects

EVERY = Duration.minutes(5)


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
        reports = [status.replace(JOB, job) for job in jobs]
        restarting = OwnFunction(
            self,
            handler="restart_jobs.handler",
            statements=[submit_steps(cluster), list_objects(bucket, reports)],
            logs=logs,
            timeout=Duration.minutes(1),
            environment={"CLUSTER": cluster, "BUCKET": bucket.bucket_name, "STATUS": status, "JOBS": ",".join(jobs)},
        )
        restarting.run_every(self, EVERY)
        self._function = restarting.function

    @property
    def failures(self) -> cloudwatch.Metric:
        """How often it could not start a job again, or not any more."""
        return self._function.metric_errors(period=EVERY, statistic="Sum")


def submit_steps(cluster: str) -> iam.PolicyStatement:
    """Look at one cluster and its steps, and add steps."""
    arn = f"arn:{Aws.PARTITION}:elasticmapreduce:{Aws.REGION}:{Aws.ACCOUNT_ID}:cluster/{cluster}"
    actions = ["DescribeCluster", "ListSteps", "AddJobFlowSteps"]
    return iam.PolicyStatement(actions=[f"elasticmapreduce:{name}" for name in actions], resources=[arn])
