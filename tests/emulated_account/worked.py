"""What an operator does with the jobs of a lake on AWS, once with steps that a test speaks for, once really run."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lake.aws.steps import SALES_CHECKPOINTS
from lake.config.errors import BadInput, LakeError
from lake.deployments import account as polling
from lake.deployments.aws import AwsDeployment
from lake.deployments.deployment import Job, Status
from lake.rendering.sales import NO_OPTIONS, SalesOptions
from lake.rendering.streamer import RunOptions
from tests.emulated_account.account import Account
from tests.emulated_account.machine import Node, Paper
from tests.emulated_account.operator import Jobs, lake_of, quiet, refused
from tests.emulated_account.story import HOME

REASON = "AnalysisException: no such column"


@dataclass(frozen=True)
class Worked:
    """What was seen."""

    before: list[Job]
    submitted: Job
    status: Status
    failure: str
    failed_log: list[str]
    cancelled: Job
    stopped: Job
    topics: list[dict[str, Any]]
    unknown: str
    streamer: list[Job]
    batch: dict[str, Any]
    sales: list[Job]
    sent: list[str]
    really_refused: str
    really_started: list[str]
    really_stopped: list[str]
    really_streamed: dict[str, Any]


def work(account: Account, folder: Path) -> Worked:
    deployment = lake_of("dev")
    jobs = deployment.jobs
    said = Jobs(account)
    account.emr.machine = said.machine()
    before = jobs.all()
    submitted = jobs.submit("stream", quiet)
    status = deployment.status()
    account.emr.machine = Paper({"stream": fail})
    failure = refused(lambda: jobs.submit("stream", quiet), LakeError)
    failed_log = jobs.log("stream", 1)
    account.emr.machine = Endless()
    outputs = deployment.steps.outputs()
    cluster = deployment.steps.cluster(outputs)
    id = cluster.submit("verify", ["x"])
    cluster.step(id)
    cancelled = jobs.stop(id, quiet)
    account.emr.machine = Paper({"topics": said.result({"topics": [{"topic": "moma.public.artists"}]})})
    stopped, topics = jobs.stop("stream", quiet), deployment.topics()
    unknown = refused(lambda: jobs.submit("gold", quiet), BadInput)
    account.emr.machine = Paper({"streamer": said.streamer})
    streamer = [jobs.submit("streamer", quiet), jobs.stop("streamer", quiet)]
    account.emr.machine = Paper({"sales-batch": said.result({"orders": 250}), "sales-regions": said.streamer})
    batch = jobs.run("sales-batch", NO_OPTIONS, quiet)
    s3, bucket = account.client("s3", HOME), outputs.places["artifacts"]
    kept = f"{SALES_CHECKPOINTS}/sales-regions/offsets/0"
    s3.put_object(Bucket=bucket, Key=kept, Body=b"x")
    sales = [jobs.submit("sales-regions", quiet, SalesOptions(anew=True)), jobs.stop("sales-regions", quiet)]
    sent = [one["Key"] for one in s3.list_objects_v2(Bucket=bucket)["Contents"] if "sales-regions/" in one["Key"]]
    really = run_really(account, folder, deployment)
    assert outputs == deployment.steps.outputs()
    return Worked(
        before,
        submitted,
        status,
        failure,
        failed_log,
        cancelled,
        stopped,
        topics,
        unknown,
        streamer,
        batch,
        sales,
        sent,
        *really,
    )


def fail(_: list[str]) -> str:
    raise ValueError(REASON)


class Endless(Paper):
    """Steps that never end by themselves."""

    def look(self, id: str) -> None:
        return None


def run_really(account: Account, folder: Path, deployment: AwsDeployment) -> tuple[Any, ...]:
    """Scripts and spark-submit run: a job whose pipeline file is not there, one that is replaced and stopped, and
    HoodieStreamer, as far as it gets without a registry."""
    jobs, node = deployment.jobs, Node(account.variables(HOME), folder)
    account.emr.machine = node
    with closing(node), pytest.MonkeyPatch.context() as patch:
        patch.setattr(polling, "POLL_S", 0.2)  # processes take their time
        failure = refused(lambda: deployment.steps.run("topics", deployment.steps.config(), quiet, 120.0), LakeError)
        jobs.submit("stream", quiet)
        first = node.applications("lake-stream")
        jobs.submit("stream", quiet)
        second = node.applications("lake-stream")
        jobs.stop("stream", quiet)
        left = node.applications("lake-stream")
        once = RunOptions(names=["moma.artists"], kinds=["mor"], once=True)
        streamed = deployment.run_streamer(once, quiet).result
        return failure, [*first, *second], left, streamed
