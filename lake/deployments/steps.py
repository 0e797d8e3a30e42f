"""The jobs of one environment as steps of its cluster, from the outputs of the deployed stacks."""

import json
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from botocore.exceptions import ClientError

from lake.aws import steps
from lake.aws.environment import AwsEnvironment
from lake.aws.processing import STREAMER
from lake.aws.rendering import STATE
from lake.aws.steps import StackOutputs
from lake.aws.table_jobs import table_jobs
from lake.config.definition import Database
from lake.config.errors import BadInput, LakeError
from lake.config.report import Report
from lake.deployments.account import Account, code
from lake.deployments.cdk import not_deployed
from lake.deployments.cluster import Cluster
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

    def cluster(self, outputs: StackOutputs | None = None) -> Cluster:
        found = outputs or self.outputs()
        return Cluster(self.account, found.cluster, steps.another_cluster(self.environment.name, found))

    def bucket(self) -> str:
        """The bucket of artifacts, where the jobs keep their state."""
        return self.outputs().places["artifacts"]

    # Each of these three returns the id of its step.

    def start(self, job: str) -> str:
        """Starts a continuous job of the environment in place of the one that runs."""
        outputs, processing = self.outputs(), self.environment.processing
        if job in self._table_jobs:
            arguments = steps.start_table(self._table_jobs[job], processing.streamer, outputs)
        else:
            arguments = steps.start(job, processing.layered[job], outputs)
        return self.cluster(outputs).submit(job, arguments)

    def start_streamer(self, options: RunOptions) -> str:
        """Starts HoodieStreamer in place of the one that runs."""
        outputs = self.outputs()
        arguments = steps.start_streamer(options, self.environment.processing.streamer, outputs)
        return self.cluster(outputs).submit(STREAMER, arguments)

    def stop(self, job: str) -> str:
        """Ends a continuous job."""
        outputs = self.outputs()
        return self.cluster(outputs).submit(f"stop {job}", steps.stop(job, outputs))

    def run(
        self, script: str, arguments: Sequence[str], report: Report, timeout_s: float, name: str = ""
    ) -> dict[str, Any]:
        """The result that a job left in S3. BadInput when it refused its input, LakeError when it failed."""
        outputs, name = self.outputs(), name or script
        key = f"{STATE}/results/{script}-{uuid4()}.json"
        output = f"s3://{outputs.places['artifacts']}/{key}"
        cluster = self.cluster(outputs)
        id = cluster.submit(name, steps.run(script, outputs, [*arguments, "--output", output]))
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
