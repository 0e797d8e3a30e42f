"""A continuous job of EMR Serverless as a resource: functions/job_run.py starts it, and ends it with its stack."""

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import CustomResource, Duration, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as functions
from aws_cdk import aws_s3 as s3
from constructs import Construct

from lake_constructs.encryption_key import use_key
from lake_constructs.log_group import LogSettings
from lake_constructs.own_function import FUNCTIONS, OwnFunction
from lake_constructs.serverless_spark import run_jobs

KIND = "Custom::LakeJobRun"


class JobRuns(Construct):
    """The function and its rights: on applications with the tag, and on the pipeline files of their jobs.

    role: that of the jobs. pipelines: the keys of those files in the bucket. templates: the right to read what they
    are made of.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        tag: tuple[str, str],
        role: iam.IRole,
        bucket: s3.IBucket,
        pipelines: Sequence[str],
        templates: iam.PolicyStatement,
        logs: LogSettings,
    ) -> None:
        super().__init__(scope, id)
        assert bucket.encryption_key
        written = [bucket.arn_for_objects(key) for key in pipelines]
        starting = OwnFunction(
            self,
            handler="job_run.handler",
            statements=[
                *run_jobs(tag, role),
                templates,
                iam.PolicyStatement(actions=["s3:PutObject"], resources=written),
                use_key(bucket.encryption_key),
            ],
            logs=logs,
            timeout=Duration.minutes(15),
            code=functions.Code.from_asset(str(FUNCTIONS), exclude=["*", "!job_run.py"]),
        )
        self._role, self._function = starting.role, starting.function

    def add(
        self, name: str, *, run: Mapping[str, Any], template: str, pipeline: str, places: Mapping[str, str]
    ) -> CustomResource:
        """One job. run: a request of StartJobRun; the others as functions/job_run.py takes them."""
        told = Stack.of(self).to_json_string
        job = CustomResource(
            self,
            f"Job-{name}",
            service_token=self._function.function_arn,
            resource_type=KIND,
            properties={"Run": told(run), "Template": template, "Pipeline": pipeline, "Places": told(places)},
        )
        job.node.add_dependency(self._role, self._function)
        return job
