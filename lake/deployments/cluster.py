"""The EMR cluster of an environment: steps added, waited for, cancelled, and their logs."""

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from botocore.exceptions import ClientError

from lake.aws.steps import step
from lake.config.errors import LakeError
from lake.config.report import Report
from lake.deployments.account import Account, code, wait

ALIVE = ("STARTING", "BOOTSTRAPPING", "RUNNING", "WAITING")
WAITING = ("PENDING", "RUNNING", "CANCEL_PENDING")
LOG_WITHIN_S = 420.0  # EMR copies the logs to S3 every five minutes
LINES = 20
KINDS = ("stderr", "stdout", "controller")  # the logs of a step, the most useful first


@dataclass(frozen=True)
class Step:
    """One step; reason is EMR's own, "" unless it failed."""

    id: str
    name: str
    state: str
    ended: datetime | None
    reason: str

    @property
    def done(self) -> bool:
        return self.state not in WAITING


class Cluster:
    """One cluster, by its id. another: the command that deploys one in its place."""

    def __init__(self, account: Account, id: str, another: str = "") -> None:
        self._account, self.id, self._another = account, id, another
        self._emr = account.client("emr")

    def state(self) -> str:
        """EMR's word; "TERMINATED" if EMR does not know the cluster any more."""
        try:
            return str(self._described()["Status"]["State"])
        except ClientError as error:
            if code(error) in ("InvalidRequestException", "ClusterNotFound"):
                return "TERMINATED"
            raise

    def _described(self) -> dict[str, Any]:
        return dict(self._emr.describe_cluster(ClusterId=self.id)["Cluster"])

    def submit(self, name: str, arguments: Sequence[str]) -> str:
        """The id of the new step, whose failure ends no other. LakeError if the cluster has ended."""
        if (state := self.state()) not in ALIVE:
            raise LakeError(f"the cluster is {state}", f"EMR cluster {self.id}", f"deploy another: {self._another}")
        added = self._emr.add_job_flow_steps(JobFlowId=self.id, Steps=[step(name, arguments)])
        return str(added["StepIds"][0])

    def steps(self) -> list[Step]:
        """All steps, the newest first."""
        return [_step(one) for one in self._account.pages("emr", "list_steps", "Steps", ClusterId=self.id)]

    def step(self, id: str) -> Step:
        return _step(self._emr.describe_step(ClusterId=self.id, StepId=id)["Step"])

    def wait(self, id: str, report: Report, timeout_s: float) -> None:
        """Returns once the step has succeeded. LakeError with the reason and the end of its log if it failed."""

        def ended() -> bool:
            step = self.step(id)
            report(f"{step.name}: {step.state}")
            return step.done

        wait(ended, f"step {id}", timeout_s)
        step = self.step(id)
        if step.state != "COMPLETED":
            report(f"{step.name}: waiting for EMR to copy its log to S3")
            tail = " / ".join(self.log(id, LOG_WITHIN_S)[-LINES:]) or "there is no log"
            what = f"{step.name} {step.state.lower()}: {step.reason or 'no reason given'}: {tail}"
            raise LakeError(what, f"step {id} of {self.id}", "see: lake jobs logs")

    def cancel(self, id: str) -> None:
        """Ends a step that waits or runs."""
        request = {"ClusterId": self.id, "StepIds": [id], "StepCancellationOption": "TERMINATE_PROCESS"}
        (answer,) = self._emr.cancel_steps(**request)["CancelStepsInfoList"]
        if answer["Status"] != "SUBMITTED":
            raise LakeError(f"not cancelled: {answer.get('Reason', '')}", f"step {id}", "see: lake jobs list")

    def log(self, id: str, within_s: float = 0.0) -> list[str]:
        """The lines of the first log of the step that is not empty; [] if none exists in time."""
        found: list[str] = []

        def there() -> bool:
            found[:] = next(filter(None, (self._lines(id, kind) for kind in KINDS)), [])
            return bool(found)

        try:
            wait(there, "the log", within_s)
        except LakeError:
            return []
        return found

    def _lines(self, id: str, kind: str) -> list[str]:
        bucket, _, folder = self._described()["LogUri"].partition("://")[2].partition("/")
        key = f"{folder.rstrip('/')}/{self.id}/steps/{id}/{kind}.gz".lstrip("/")
        content = self._account.read(bucket, key)
        return gzip.decompress(content).decode("utf-8", "replace").splitlines()


def _step(one: dict[str, Any]) -> Step:
    status = one["Status"]
    times, failure = status.get("Timeline", {}), status.get("FailureDetails", {})
    reason = " ".join(str(failure[key]) for key in ("Reason", "Message") if failure.get(key))
    reason = reason or str(status.get("StateChangeReason", {}).get("Message", ""))
    return Step(one["Id"], one["Name"], status["State"], times.get("EndDateTime"), reason)
