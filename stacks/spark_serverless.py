"""The Spark jobs on EMR Serverless: each continuous job is a job run, which a custom resource starts."""

from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct
from lake_constructs import metrics
from lake_constructs.alarms import Alarms
from lake_constructs.job_code import JobCode
from lake_constructs.job_reports import JobReports
from lake_constructs.job_run import JobRuns
from lake_constructs.own_function import JOB
from lake_constructs.serverless_spark import JobRole, SparkApplication, start_runs

from lake.aws import runs
from lake.aws.part import LAKE_TAG
from lake.aws.routines import routines
from lake.aws.stack_outputs import StackOutputs, remembered_key
from lake.rendering.spark import SESSION
from stacks.job_rights import JobRights
from stacks.network import NetworkStack
from stacks.part import Blueprint
from stacks.spark import Graphs, id_elsewhere, offer, publish_id
from stacks.storage import EMR_LOGS, StorageStack


class SparkServerless:
    """The application and its job runs, in the stack."""

    number = ""

    def __init__(
        self,
        stack: Stack,
        blueprint: Blueprint,
        *,
        network: NetworkStack,
        storage: StorageStack,
        code: JobCode,
        rights: JobRights,
    ) -> None:
        self._stack, self._blueprint, self._storage, self._code = stack, blueprint, storage, code
        self._settings, self._processing = blueprint.environment, blueprint.environment.processing
        self._tag = (LAKE_TAG, self._settings.name)
        self.group = ec2.SecurityGroup(stack, "Jobs", vpc=network.vpc)
        self.role: iam.Role = JobRole(stack, "JobRole", statements=rights.statements(rights.on_serverless(code)))
        self.service_role = self.role.role_arn
        subnets = [one.subnet_id for one in network.vpc.private_subnets]
        self._application = SparkApplication(
            stack,
            "Application",
            name=blueprint.name,
            release=self._processing.release,
            spark=SESSION,
            subnets=subnets,
            group=self.group,
            vcpus=self._processing.limits.vcpus,
            memory_gb=self._processing.limits.memory_gb,
            log_uri=f"s3://{storage.logs.bucket_name}/{EMR_LOGS}/",
        )
        self.id = self._application.attr_application_id
        publish_id(stack, self._settings.name, self.id)

    def start(self, outputs: StackOutputs) -> None:
        jobs = self._processing.layered
        runs_of = {name: runs.start(name, job, outputs) for name, job in jobs.items()}
        self._offer(runs_of, outputs)
        starter = JobRuns(
            self._stack,
            "JobRuns",
            tag=self._tag,
            role=self.role,
            bucket=self._storage.artifacts,
            pipelines=[remembered_key(name, "pipeline.json") for name in jobs],
            templates=self._code.read(self._code.templates[name] for name in jobs),
            logs=self._storage.log_settings,
        )
        for name, run in runs_of.items():
            pipeline = outputs.remembered(name, "pipeline.json")
            job = starter.add(name, run=run, template=outputs.templates[name], pipeline=pipeline, places=outputs.places)
            job.node.add_dependency(self.role)  # its policies are resources of their own
        JobReports(
            self._stack,
            "Reports",
            environment=self._settings.name,
            bucket=self._storage.artifacts,
            status=remembered_key(JOB, "status.json"),
            jobs=list(jobs),
            logs=self._storage.log_settings,
        )

    def _offer(self, jobs: dict[str, dict[str, Any]], outputs: StackOutputs) -> None:
        """jobs: the requests of StartJobRun that start them."""
        offer(
            self._stack,
            self._blueprint,
            routines(self._settings, self._blueprint.root, outputs),
            {f"start-{name}": run for name, run in jobs.items()},
            call="emrserverless:startJobRun",
            statements=start_runs(self._tag, self.role),
            target=runs.as_scheduled,
        )

    def watch(self, scope: Construct, alarms: Alarms) -> Graphs:
        application = id_elsewhere(scope, self._stack, self._settings.name)
        alarms.tell_of_failed_runs(application)
        return {"Job runs": [metrics.job_runs(application, "RunningJobs")]}
