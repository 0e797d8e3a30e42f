"""The application on EMR Serverless of an environment: its job runs."""

import time
from collections.abc import Sequence
from typing import Any

from lake.aws.runs import Run
from lake.config.errors import LakeError
from lake.config.report import Report
from lake.deployments.account import Account, code
from lake.deployments.deployment import Job
from lake.deployments.runner import FRESH_S, SUBMIT_WITHIN_S, Runner, Step, split

SERVICE = "emr-serverless"
ENDED = ("SUCCESS", "FAILED", "CANCELLED")
# The words of steps for those of job runs.
WORDS = {"SUBMITTED": "PENDING", "SCHEDULED": "PENDING", "QUEUED": "PENDING", "SUCCESS": "COMPLETED"}


class Application(Runner):
    """It starts by itself with the first job run, so that it takes jobs in each state but after its deletion."""

    alive = ("CREATING", "CREATED", "STARTING", "STARTED", "STOPPING", "STOPPED")
    log_within_s = 60.0  # EMR Serverless copies the logs to S3 every 15 seconds
    kinds = ("stderr", "stdout")

    def __init__(self, account: Account, id: str) -> None:
        super().__init__(account, id)
        self._emr = account.client(SERVICE)

    def state(self) -> str:
        found = self._described()
        return str(found["state"]) if found else "TERMINATED"

    def _described(self) -> dict[str, Any]:
        try:
            return dict(self._emr.get_application(applicationId=self.id)["application"])
        except self._emr.exceptions.ResourceNotFoundException:
            return {}

    def submit(self, name: str, wish: Run) -> str:
        """The id of the new job run. A continuous job replaces the run of the same name."""
        if (state := self.state()) not in self.alive:
            raise LakeError(f"the application is {state}", f"EMR Serverless, {self.id}", "deploy it again")
        if wish.get("mode") == "STREAMING":
            self._end(name)
        return str(self._emr.start_job_run(**wish)["jobRunId"])

    def _end(self, name: str) -> None:
        """Ends each run of this name: two would write the same tables."""
        for one in self.steps():
            if one.name == name and not one.done:
                self._cancel(one)
                self._await(one.id, lambda _: None, SUBMIT_WITHIN_S, lambda step: step.done)

    def accepted(self, id: str, report: Report, timeout_s: float) -> None:
        self._await(id, report, timeout_s, lambda step: step.done or step.state == "RUNNING")
        step = self.step(id)
        if step.state != "RUNNING":
            raise self._failure(step, report)

    def stopped(self, id: str, report: Report, timeout_s: float) -> None:
        self._await(id, report, timeout_s, lambda step: step.done)

    def stop(self, name: str) -> str:
        """The id of the newest run of this name, which begins to end if it has not. LakeError if there is none."""
        newest = next((one for one in self.steps() if one.name == name), None)
        if newest is None:
            raise LakeError(f"{name} was never started", f"EMR Serverless, {self.id}", "see: lake jobs list")
        self._cancel(newest)
        return newest.id

    def steps(self) -> list[Step]:
        found = self._account.pages(SERVICE, "list_job_runs", "jobRuns", applicationId=self.id)
        return [_step(one, one["id"]) for one in sorted(found, key=lambda one: one["createdAt"], reverse=True)]

    def step(self, id: str) -> Step:
        return _step(self._emr.get_job_run(applicationId=self.id, jobRunId=id)["jobRun"], id)

    def cancel(self, id: str) -> None:
        try:
            self._cancel(self.step(id))
        except Exception as error:
            if code(error) != "ValidationException":
                raise
            raise LakeError(f"not cancelled: {error}", f"job run {id}", "see: lake jobs list") from None

    def _cancel(self, run: Step) -> None:
        """A run that ends already is left alone."""
        if not run.done and run.state != "CANCELLING":
            self._emr.cancel_job_run(applicationId=self.id, jobRunId=run.id)

    def continuous(self, name: str, at: float | None, steps: Sequence[Step], state: str) -> Job:
        """The newest run of this name, and the report of the job."""
        newest = next((one for one in steps if one.name == name), None)
        silent = None if at is None else max(0.0, time.time() - at)
        if newest is None:
            return Job(name, True, "absent", "", silent, "never started on this application")
        if newest.done or newest.state == "CANCELLING":
            return Job(name, True, "stopped", newest.id, silent, newest.reason)
        if newest.state != "RUNNING":
            return Job(name, True, "starting", newest.id, silent)
        if silent is not None and silent <= FRESH_S:
            return Job(name, True, "running", newest.id, silent)
        begun = newest.changed.timestamp() if newest.changed else 0.0
        if (at is None or at < begun) and time.time() - begun < SUBMIT_WITHIN_S:
            return Job(name, True, "starting", newest.id, silent)
        said = "it never reported" if silent is None else f"no report for {silent:.0f} s"
        return Job(name, True, "silent", newest.id, silent, said)

    def _place(self, id: str) -> tuple[str, str]:
        monitoring = self._described()["monitoringConfiguration"]["s3MonitoringConfiguration"]
        bucket, folder = split(monitoring["logUri"])
        return bucket, f"{folder}/applications/{self.id}/jobs/{id}/SPARK_DRIVER"


def _step(one: dict[str, Any], id: str) -> Step:
    state = str(one["state"])
    ended = one.get("updatedAt") if state in ENDED else None
    reason = str(one.get("stateDetails", "")) if state == "FAILED" else ""
    return Step(
        id, str(one.get("name", "")), WORDS.get(state, state), ended, reason, state in ENDED, one.get("updatedAt")
    )
