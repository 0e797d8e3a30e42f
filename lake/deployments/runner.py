"""What runs the jobs of a lake on AWS: one interface for a cluster of EMR and for EMR Serverless."""

import gzip
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from lake.config.errors import LakeError
from lake.config.report import Report
from lake.deployments.account import Account, wait
from lake.deployments.deployment import Job

LINES = 20
FRESH_S = 60.0  # a job reports every second; the clock of its machine may differ
SUBMIT_WITHIN_S = 900.0


@dataclass(frozen=True)
class Step:
    """One step of a cluster, or one job run.

    state: EMR's word for a step; reason is EMR's own, "" unless it failed. changed: when a job run got its state.
    """

    id: str
    name: str
    state: str
    ended: datetime | None
    reason: str
    done: bool
    changed: datetime | None = None


class Runner(ABC):
    """By its id. A submitted job is a Step, continuous or not."""

    alive: ClassVar[tuple[str, ...]]  # the states in which it takes jobs
    log_within_s: ClassVar[float]  # when the log of a job is on S3 at the latest
    kinds: ClassVar[tuple[str, ...]]  # the logs of a step, the most useful first

    def __init__(self, account: Account, id: str) -> None:
        self._account, self.id = account, id

    @abstractmethod
    def state(self) -> str:
        """EMR's word; TERMINATED if EMR does not know it any more."""

    @abstractmethod
    def steps(self) -> list[Step]:
        """All, the newest first."""

    @abstractmethod
    def step(self, id: str) -> Step: ...

    @abstractmethod
    def submit(self, name: str, wish: Any) -> str:
        """The id of the new step. wish: of lake/aws/steps.py, or runs.py. LakeError if no job can be started."""

    @abstractmethod
    def accepted(self, id: str, report: Report, timeout_s: float) -> None:
        """Returns once the continuous job of this step runs. LakeError as of wait()."""

    @abstractmethod
    def stopped(self, id: str, report: Report, timeout_s: float) -> None:
        """Returns once the job is stopped by what `Steps.stop` began."""

    @abstractmethod
    def cancel(self, id: str) -> None:
        """Ends a step that waits or runs."""

    @abstractmethod
    def continuous(self, name: str, at: float | None, steps: Sequence[Step], state: str) -> Job:
        """A continuous job. at: the time of its report; steps and state: of this runner."""

    @abstractmethod
    def _place(self, id: str) -> tuple[str, str]:
        """The bucket of the logs of a step, and the folder of its own logs."""

    def wait(self, id: str, report: Report, timeout_s: float) -> None:
        """Returns once the step has succeeded. LakeError with the reason and the end of its log if it failed."""
        self._await(id, report, timeout_s, lambda step: step.done)
        step = self.step(id)
        if step.state != "COMPLETED":
            raise self._failure(step, report)

    def _await(self, id: str, report: Report, timeout_s: float, enough: Any) -> None:
        def reached() -> bool:
            step = self.step(id)
            report(f"{step.name}: {step.state}")
            return bool(enough(step))

        wait(reached, f"step {id}", timeout_s)

    def _failure(self, step: Step, report: Report) -> LakeError:
        report(f"{step.name}: waiting for EMR to copy its log to S3")
        tail = " / ".join(self.log(step.id, self.log_within_s)[-LINES:]) or "there is no log"
        what = f"{step.name} {step.state.lower()}: {step.reason or 'no reason given'}: {tail}"
        return LakeError(what, f"step {step.id} of {self.id}", "see: lake jobs logs")

    def log(self, id: str, within_s: float = 0.0) -> list[str]:
        """The lines of the first log of the step that is not empty; [] if none exists in time."""
        found: list[str] = []

        def there() -> bool:
            found[:] = next(filter(None, (self._lines(id, kind) for kind in self.kinds)), [])
            return bool(found)

        try:
            wait(there, "the log", within_s)
        except LakeError:
            return []
        return found

    def _lines(self, id: str, kind: str) -> list[str]:
        bucket, folder = self._place(id)
        content = self._account.read(bucket, f"{folder}/{kind}.gz".lstrip("/"))
        return gzip.decompress(content).decode("utf-8", "replace").splitlines() if content else []


def split(url: str) -> tuple[str, str]:
    """Bucket and folder of an address in S3."""
    bucket, _, folder = url.partition("://")[2].partition("/")
    return bucket, folder.rstrip("/")


def reasons(told: Mapping[str, Any], *keys: str) -> str:
    return " ".join(str(told[key]) for key in keys if told.get(key))
