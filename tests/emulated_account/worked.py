"""What an operator does with the jobs of a lake on AWS, once with steps that a test speaks for, once really run."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lake.config.errors import BadInput, LakeError
from lake.deployments import account as polling
from lake.deployments.aws import AwsPlace
from lake.deployments.aws_jobs import AwsJobs
from lake.deployments.aws_status import AwsStatus, look
from lake.deployments.jobs import Job
from lake.rendering.streamer import Wish
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
    status: AwsStatus
    failure: str
    failed_log: list[str]
    cancelled: Job
    stopped: Job
    topics: list[dict[str, Any]]
    unknown: str
    streamer: list[Job]
    really_refused: str
    really_started: list[str]
    really_stopped: list[str]
    really_streamed: dict[str, Any]


def work(account: Account, folder: Path) -> Worked:
    jobs, place = AwsJobs(lake_of("dev")), lake_of("dev")
    said = Jobs(account)
    account.emr.machine = said.machine()
    before = jobs.all()
    submitted = jobs.submit("stream", quiet)
    status = look(place)
    account.emr.machine = Paper({"stream": fail})
    failure = refused(lambda: jobs.submit("stream", quiet), LakeError)
    failed_log = jobs.log("stream", 1)
    account.emr.machine = Endless()
    cluster, sheet = place.cluster(place.sheet()), place.sheet()
    id = cluster.submit("verify", ["x"])
    cluster.step(id)
    cancelled = jobs.stop(id, quiet)
    account.emr.machine = Paper({"topics": said.result({"topics": [{"topic": "moma.public.artists"}]})})
    stopped, topics = jobs.stop("stream", quiet), place.topics()
    unknown = refused(lambda: jobs.submit("gold", quiet), BadInput)
    account.emr.machine = Paper({"streamer": said.streamer})
    streamer = [jobs.submit("streamer", quiet), jobs.stop("streamer", quiet)]
    really = run_really(account, folder, place, jobs)
    assert sheet == place.sheet()
    return Worked(
        before, submitted, status, failure, failed_log, cancelled, stopped, topics, unknown, streamer, *really
    )


def fail(_: list[str]) -> str:
    raise ValueError(REASON)


class Endless(Paper):
    """Steps that never end by themselves."""

    def look(self, id: str) -> None:
        return None


def run_really(account: Account, folder: Path, place: AwsPlace, jobs: AwsJobs) -> tuple[Any, ...]:
    """Scripts and spark-submit run: a job whose pipeline file is not there, one that is replaced and stopped, and
    HoodieStreamer, as far as it gets without a registry."""
    node = Node(account.client, account.variables(HOME), folder)
    account.emr.machine = node
    with closing(node), pytest.MonkeyPatch.context() as patch:
        patch.setattr(polling, "POLL_S", 0.2)  # processes take their time
        failure = refused(lambda: place.run("topics", place._config(), quiet, 120.0), LakeError)
        jobs.submit("stream", quiet)
        first = node.applications("lake-stream")
        jobs.submit("stream", quiet)
        second = node.applications("lake-stream")
        jobs.stop("stream", quiet)
        left = node.applications("lake-stream")
        streamed = place.stream_once(Wish(names=["moma.artists"], kinds=["mor"], once=True), quiet)
        return failure, [*first, *second], left, streamed
