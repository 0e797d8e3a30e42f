"""The jobs of one environment as steps of its cluster, or as job runs, from the outputs of the deployed stacks."""

import json
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from botocore.exceptions import ClientError

from lake.aws import runs, steps
from lake.aws.environment import AwsEnvironment
from lake.aws.processing import STREAMER, Size
from lake.aws.rendering import STATE
from lake.aws.steps import StackOutputs
from lake.aws.table_jobs import table_jobs
from lake.config.definition import Database
from lake.config.errors import BadInput, LakeError
from lake.config.report import Report
from lake.config.versions import EMR, no_streamer
from lake.deployments.account import Account, code
from lake.deployments.application import Application
from lake.deployments.cdk import not_deployed
from lake.deployments.cluster import Cluster
from lake.deployments.runner import Runner
from lake.rendering.streamer import RunOptions


class Steps:
    """Submits jobs, and reads their results and reports from S3."""

    def __init__(self, account: Account, environment: AwsEnvironment, databases: list[Database]) -> None:
        self.account, self.environment = account, environment
        self._table_jobs = {one.name: one for one in table_jobs(environment.processing, databases)}

    @property
    def continuous(self) -> list[str]:
        """The names of the jobs that the deployment starts."""
        return [*self.environment.processing.layered, *self._table_jobs]

    def find_outputs(self) -> StackOutputs | None:
        """None before the jobs are deployed."""
        ssm = self.account.client("ssm")
        try:
            text = ssm.get_parameter(Name=steps.parameter(self.environment.name))["Parameter"]["Value"]
        except ClientError as error:
            if code(error) != "ParameterNotFound":
                raise
            return None
        return StackOutputs(**json.loads(text))

    def outputs(self) -> StackOutputs:
        """LakeError before the jobs are deployed."""
        found = self.find_outputs()
        if found is None:
            raise not_deployed(self.environment.name, f"region {self.account.region}")
        return found

    def cluster(self, outputs: StackOutputs | None = None) -> Runner:
        """What runs the jobs: the cluster, or the application on EMR Serverless."""
        found = outputs or self.outputs()
        if found.serverless:
            return Application(self.account, found.cluster)
        return Cluster(self.account, found.cluster, steps.another_cluster(self.environment.name, found))

    def bucket(self) -> str:
        """The bucket of artifacts, where the jobs keep their state."""
        return self.outputs().places["artifacts"]

    # Each of these returns the id of its step.

    def start(self, job: str) -> str:
        """Starts a continuous job of the environment in place of the one that runs."""
        outputs, processing = self.outputs(), self.environment.processing
        cluster = self.cluster(outputs)
        if job in self._table_jobs:
            return cluster.submit(job, steps.start_table(self._table_jobs[job], processing.streamer, outputs))
        return cluster.submit(job, _render(outputs).start(job, processing.layered[job], outputs))

    def start_streamer(self, options: RunOptions) -> str:
        """Starts HoodieStreamer in place of the one that runs. BadInput where it cannot run."""
        outputs, processing = self.outputs(), self.environment.processing
        if reason := no_streamer(processing.release):
            where = f"environments/{self.environment.name}.yaml, key processing.release"
            raise BadInput(reason, where, f"run it on {EMR}")
        arguments = steps.start_streamer(options, processing.streamer, outputs)
        return self.cluster(outputs).submit(STREAMER, arguments)

    def start_sales(self, name: str, words: Sequence[str], size: Size) -> str:
        """Starts a job about sales that streams, in place of the one that runs."""
        outputs = self.outputs()
        return self.cluster(outputs).submit(name, _render(outputs).start_sales(name, words, size, outputs))

    def stop(self, job: str) -> str:
        """Ends a continuous job."""
        outputs = self.outputs()
        cluster = self.cluster(outputs)
        if isinstance(cluster, Application):
            return cluster.stop(job)
        return cluster.submit(f"stop {job}", steps.stop(job, outputs))

    def run(
        self, script: str, arguments: Sequence[str], report: Report, timeout_s: float, name: str = ""
    ) -> dict[str, Any]:
        """The result that a job left in S3. BadInput when it refused its input, LakeError when it failed."""
        outputs, name = self.outputs(), name or script
        key = f"{STATE}/results/{script}-{uuid4()}.json"
        output = f"s3://{outputs.places['artifacts']}/{key}"
        cluster = self.cluster(outputs)
        id = cluster.submit(name, _once(script, outputs, [*arguments, "--output", output], name))
        failure = None
        try:
            cluster.wait(id, report, timeout_s)
        except LakeError as error:  # a job that refuses its input fails, too, with the reason in its result
            failure = error
        content = self.account.read_json(outputs.places["artifacts"], key)
        if not content:
            now = f"see: lake jobs logs {name} --env {self.environment.name}"
            raise failure or LakeError(f"{name} left no result", output, now)
        if "error" in content:
            raise BadInput(content["error"], f"lake {script}", "correct it")
        return {**content, "result": output}

    def config(self) -> list[str]:
        """The argument that names the pipeline file of the job that writes the tables."""
        return steps.config(self.environment.processing, self.outputs())

    def reports(self) -> dict[str, dict[str, Any]]:
        """The last report of each job that writes layers; {} for a job that never wrote one."""
        outputs = self.find_outputs()
        return {name: self.report(name, outputs) if outputs else {} for name in self.environment.processing.layered}

    def report(self, job: str, outputs: StackOutputs) -> dict[str, Any]:
        """The last report of a continuous job; {} if it never wrote one."""
        return self.account.read_json(outputs.places["artifacts"], f"{STATE}/{job}/status.json")


def _render(outputs: StackOutputs) -> Any:
    """The module that renders continuous jobs for what runs them."""
    return runs if outputs.serverless else steps


def _once(script: str, outputs: StackOutputs, arguments: Sequence[str], name: str) -> Any:
    """A job that ends, for what runs it."""
    return runs.run(script, outputs, arguments, name) if outputs.serverless else steps.run(script, outputs, arguments)
