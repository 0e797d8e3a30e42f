"""The EMR cluster of an environment: its steps."""

import time
from collections.abc import Sequence
from typing import Any

from botocore.exceptions import ClientError

from lake.aws.steps import step
from lake.config.errors import LakeError
from lake.config.report import Report
from lake.deployments.account import Account, code
from lake.deployments.deployment import Job
from lake.deployments.runner import FRESH_S, SUBMIT_WITHIN_S, Runner, Step, reasons, split

WAITING = ("PENDING", "RUNNING", "CANCEL_PENDING")


class Cluster(Runner):
    """another: the command that deploys one in its place."""

    alive = ("STARTING", "BOOTSTRAPPING", "RUNNING", "WAITING")
    log_within_s = 420.0  # EMR copies the logs to S3 every five minutes
    kinds = ("stderr", "stdout", "controller")

    def __init__(self, account: Account, id: str, another: str = "") -> None:
        super().__init__(account, id)
        self._another, self._emr = another, account.client("emr")

    def state(self) -> str:
        try:
            return str(self._described()["Status"]["State"])
        except ClientError as error:
            if code(error) in ("InvalidRequestException", "ClusterNotFound"):
                return "TERMINATED"
            raise

    def _described(self) -> dict[str, Any]:
        return dict(self._emr.describe_cluster(ClusterId=self.id)["Cluster"])

    def submit(self, name: str, wish: Sequence[str]) -> str:
        """The id of the new step, whose failure ends no other. LakeError if the cluster has ended."""
        if (state := self.state()) not in self.alive:
            raise LakeError(f"the cluster is {state}", f"EMR cluster {self.id}", f"deploy another: {self._another}")
        added = self._emr.add_job_flow_steps(JobFlowId=self.id, Steps=[step(name, wish)])
        return str(added["StepIds"][0])

    def accepted(self, id: str, report: Report, timeout_s: float) -> None:
        """A step is done when YARN has accepted its application."""
        self.wait(id, report, timeout_s)

    def stopped(self, id: str, report: Report, timeout_s: float) -> None:
        """The stop is a step of its own."""
        self.wait(id, report, timeout_s)

    def steps(self) -> list[Step]:
        return [_step(one) for one in self._account.pages("emr", "list_steps", "Steps", ClusterId=self.id)]

    def step(self, id: str) -> Step:
        return _step(self._emr.describe_step(ClusterId=self.id, StepId=id)["Step"])

    def cancel(self, id: str) -> None:
        request = {"ClusterId": self.id, "StepIds": [id], "StepCancellationOption": "TERMINATE_PROCESS"}
        (answer,) = self._emr.cancel_steps(**request)["CancelStepsInfoList"]
        if answer["Status"] != "SUBMITTED":
            raise LakeError(f"not cancelled: {answer.get('Reason', '')}", f"step {id}", "see: lake jobs list")

    def continuous(self, name: str, at: float | None, steps: Sequence[Step], state: str) -> Job:
        """The newest start or stop step gives the wanted state; the report of the job gives the real state."""
        newest = next((one for one in steps if one.name in (name, f"stop {name}")), None)
        id, silent = newest.id if newest else "", None if at is None else max(0.0, time.time() - at)
        if state not in self.alive:
            return Job(name, True, "stopped", id, silent, f"the cluster is {state}")
        if newest is None:
            return Job(name, True, "absent", "", silent, "never started on this cluster")
        if newest.name != name and newest.state == "COMPLETED":
            return Job(name, True, "stopped", id, silent)
        if newest.state in ("FAILED", "CANCELLED", "INTERRUPTED"):
            return Job(name, True, "stopped" if newest.name == name else "running", id, silent, newest.reason)
        if silent is not None and silent <= FRESH_S:
            return Job(name, True, "running", id, silent)
        begun = newest.ended.timestamp() if newest.ended else time.time()
        if at is None or at < begun:
            return Job(name, True, "starting" if time.time() - begun < SUBMIT_WITHIN_S else "silent", id, silent)
        return Job(name, True, "silent", id, silent, f"no report for {silent:.0f} s")

    def _place(self, id: str) -> tuple[str, str]:
        bucket, folder = split(self._described()["LogUri"])
        return bucket, f"{folder}/{self.id}/steps/{id}"


def _step(one: dict[str, Any]) -> Step:
    status = one["Status"]
    reason = reasons(status.get("FailureDetails", {}), "Reason", "Message")
    reason = reason or str(status.get("StateChangeReason", {}).get("Message", ""))
    ended = status.get("Timeline", {}).get("EndDateTime")
    return Step(one["Id"], one["Name"], status["State"], ended, reason, status["State"] not in WAITING)
