"""The function that starts jobs again after YARN gave them up."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from lake_constructs.functions import restart_jobs

NOW = datetime.now(UTC)
STATUS = "state/{job}/status.json"


class Aws:
    """EMR with the steps of a cluster, the newest first, and S3 with the reports of the jobs."""

    def __init__(self, steps: list[dict[str, Any]], reported: dict[str, float], state: str = "WAITING") -> None:
        self.steps, self.reported, self.state = steps, reported, state
        self.added: list[dict[str, Any]] = []
        self.regions: set[str] = set()

    def client(self, service: str, region_name: str) -> "Aws":
        self.regions.add(region_name)
        return self

    def describe_cluster(self, ClusterId: str) -> dict[str, Any]:
        return {"Cluster": {"Status": {"State": self.state}}}

    def get_paginator(self, name: str) -> SimpleNamespace:
        pages = [{"Steps": self.steps[:2]}, {"Steps": self.steps[2:]}]
        return SimpleNamespace(paginate=lambda ClusterId: pages)

    def list_objects_v2(self, Bucket: str, Prefix: str) -> dict[str, Any]:
        found = {key: minutes for key, minutes in self.reported.items() if key.startswith(Prefix)}
        return {"Contents": [{"Key": key, "LastModified": before(minutes)} for key, minutes in found.items()]}

    def add_job_flow_steps(self, JobFlowId: str, Steps: list[dict[str, Any]]) -> None:
        self.added += Steps


def before(minutes: float) -> datetime:
    return NOW - timedelta(minutes=minutes)


def step(name: str, minutes: float, state: str = "COMPLETED", args: tuple[str, ...] = ("bash",)) -> dict[str, Any]:
    """A step that ended so many minutes ago."""
    times = {"CreationDateTime": before(minutes + 1), "EndDateTime": before(minutes)}
    config = {"Jar": "command-runner.jar", "Args": list(args), "Properties": {}}
    return {"Id": "s-1", "Name": name, "Config": config, "Status": {"State": state, "Timeline": times}}


def run(aws: Aws, monkeypatch: pytest.MonkeyPatch, jobs: str = "stream") -> list[str]:
    variables = {"AWS_REGION": "eu-central-1", "CLUSTER": "j-1", "BUCKET": "b", "STATUS": STATUS, "JOBS": jobs}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(restart_jobs, "boto3", aws)
    return restart_jobs.handler({}, None)


def test_a_job_that_yarn_gave_up_is_started_by_its_last_step(monkeypatch: pytest.MonkeyPatch) -> None:
    aws = Aws([step("stream", 60, args=("new",)), step("stream", 500, args=("old",))], {"state/stream/status.json": 30})
    assert run(aws, monkeypatch) == ["stream"]
    jar = {"Jar": "command-runner.jar", "Args": ["new"]}
    assert aws.added == [{"Name": "stream", "ActionOnFailure": "CONTINUE", "HadoopJarStep": jar}]
    assert aws.regions == {"eu-central-1"}


def test_a_job_whose_start_failed_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(Aws([step("stream", 60, "FAILED")], {}), monkeypatch) == ["stream"]


@pytest.mark.parametrize(
    ("steps", "minutes", "why"),
    [
        ([step("stream", 60)], 0.1, "it reports"),
        ([step("stop stream", 30), step("stream", 60)], 40, "a person stopped it"),
        ([step("stream", 60, "CANCELLED")], 40, "a person cancelled its start"),
        ([step("stream", 0, "RUNNING"), step("stream", 60)], 40, "it is being started"),
        ([step("stream", 3)], 40, "it was started just now"),
        ([step("verify", 60)], 40, "it was never started"),
    ],
)
def test_a_job_is_left_alone(
    steps: list[dict[str, Any]], minutes: float, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws = Aws(steps, {"state/stream/status.json": minutes})
    assert (run(aws, monkeypatch), aws.added) == ([], []), why


def test_only_the_job_that_ended_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [step("silver", 60), step("bronze", 60), step("silver-2", 60)]
    reports = {"state/silver/status.json": 0.1, "state/bronze/status.json": 20}
    assert run(Aws(steps, reports), monkeypatch, "silver,bronze") == ["bronze"]


def test_a_job_that_ends_again_and_again_is_given_up_and_the_others_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    aws = Aws([*(step("stream", minutes) for minutes in (20, 60, 100, 140)), step("bronze", 60)], {})
    with pytest.raises(restart_jobs.GaveUp, match=r"stream; see: lake jobs logs"):
        run(aws, monkeypatch, "stream,bronze")
    assert [one["Name"] for one in aws.added] == ["bronze"]


def test_starts_of_yesterday_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [step("stream", 60), *(step("stream", minutes) for minutes in (500, 600, 700))]
    assert run(Aws(steps, {}), monkeypatch) == ["stream"]


def test_a_cluster_that_has_ended_gets_no_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(Aws([step("stream", 60)], {}, "TERMINATED"), monkeypatch) == []
