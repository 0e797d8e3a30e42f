"""What the command line says of jobs on EMR Serverless, from their runs and reports."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from lake.config.errors import LakeError
from lake.deployments.account import Account
from lake.deployments.application import Application


class Emr:
    """One application with its runs."""

    def __init__(self, runs: list[dict[str, Any]], state: str = "STARTED") -> None:
        self.runs, self.told = runs, state
        self.cancelled: list[str] = []
        self.started: list[dict[str, Any]] = []

    def get_application(self, applicationId: str) -> dict[str, Any]:
        return {"application": {"state": self.told}}

    def get_job_run(self, applicationId: str, jobRunId: str) -> dict[str, Any]:
        return {"jobRun": next(one for one in self.runs if one["id"] == jobRunId)}

    def cancel_job_run(self, applicationId: str, jobRunId: str) -> None:
        self.cancelled.append(jobRunId)
        next(one for one in self.runs if one["id"] == jobRunId)["state"] = "CANCELLED"

    def start_job_run(self, **wish: Any) -> dict[str, Any]:
        self.started.append(wish)
        return {"jobRunId": "new"}


class Fake:
    """The account, with this EMR Serverless."""

    def __init__(self, emr: Emr) -> None:
        self._emr = emr

    def client(self, service: str) -> Emr:
        return self._emr

    def pages(self, service: str, method: str, key: str, **filters: Any) -> list[dict[str, Any]]:
        return self._emr.runs


def application(*runs: dict[str, Any], state: str = "STARTED") -> tuple[Application, Emr]:
    emr = Emr(list(runs), state)
    return Application(cast(Account, Fake(emr)), "app"), emr


def run(state: str, minutes: float = 60, id: str = "r", name: str = "stream", why: str = "") -> dict[str, Any]:
    """A run that got its state so many minutes ago."""
    then = datetime.now(UTC) - timedelta(minutes=minutes)
    return {"id": id, "name": name, "state": state, "createdAt": then, "updatedAt": then, "stateDetails": why}


@pytest.mark.parametrize(
    ("found", "report_s", "state", "reason"),
    [
        (run("SUBMITTED"), None, "starting", ""),
        (run("QUEUED"), 5, "starting", ""),
        (run("RUNNING"), 5, "running", ""),
        (run("RUNNING", 5), 3600, "starting", ""),
        (run("RUNNING", 5), None, "starting", ""),
        (run("RUNNING"), 600, "silent", "no report for 600 s"),
        (run("RUNNING"), None, "silent", "it never reported"),
        (run("CANCELLING"), 5, "stopped", ""),
        (run("CANCELLED"), 5, "stopped", ""),
        (run("FAILED", why="out of memory"), 5, "stopped", "out of memory"),
        (run("RUNNING", name="verify"), 5, "absent", "never started on this application"),
    ],
)
def test_a_continuous_job(found: dict[str, Any], report_s: float | None, state: str, reason: str) -> None:
    one, _ = application(found)
    at = None if report_s is None else time.time() - report_s
    job = one.continuous("stream", at, one.steps(), "STARTED")
    assert (job.state, job.reason) == (state, reason)


def test_the_newest_run_counts_whatever_the_order() -> None:
    one, _ = application(run("FAILED", 90, "old"), run("RUNNING", 30, "new"), run("CANCELLED", 60, "between"))
    assert [step.id for step in one.steps()] == ["new", "between", "old"]
    assert one.continuous("stream", time.time(), one.steps(), "STARTED").id == "new"


def test_a_continuous_job_replaces_its_run_and_a_batch_does_not() -> None:
    one, emr = application(run("RUNNING"), run("RUNNING", id="v", name="verify"))
    assert one.submit("verify", {"mode": "BATCH"}) == "new"
    assert emr.cancelled == []
    one.submit("stream", {"mode": "STREAMING"})
    assert emr.cancelled == ["r"]
    assert [wish["mode"] for wish in emr.started] == ["BATCH", "STREAMING"]


def test_a_stopped_application_takes_jobs_and_a_deleted_one_does_not() -> None:
    one, _ = application(state="STOPPED")
    assert one.submit("verify", {"mode": "BATCH"}) == "new"
    gone, _ = application(state="TERMINATED")
    with pytest.raises(LakeError, match="the application is TERMINATED"):
        gone.submit("verify", {"mode": "BATCH"})


def test_what_never_ran_cannot_be_stopped() -> None:
    one, emr = application(run("CANCELLED"))
    assert one.stop("stream") == "r" and emr.cancelled == []
    with pytest.raises(LakeError, match="bronze was never started"):
        one.stop("bronze")
