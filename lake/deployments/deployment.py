"""The operations of a lake: one interface for a laptop and for AWS."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from lake.config.definition import Database
from lake.config.refinement import Refinement
from lake.config.report import Report
from lake.deployments.connectors import Ask
from lake.rendering.sales import NO_OPTIONS, SalesOptions
from lake.rendering.streamer import RunOptions


@dataclass(frozen=True)
class Resource:
    """One part of a lake: where it is, of what kind, its name, and what is lost with it ("" nothing).

    stays: the environment keeps it after a teardown.
    """

    where: str
    kind: str
    name: str
    lost: str = ""
    stays: bool = False


# Number of the batch, offsets before and after it, its messages, and the rows that the query keeps.
PROGRESS = ("batch", "offsets", "rows", "state_rows")


@dataclass(frozen=True)
class Job:
    """One Spark job, continuous or a step.

    state: running, starting, silent, stopped or absent for a continuous job, EMR's word for a step. id: the step that
    started it last, "" without one. reported_s: seconds since its last report. progress: its last batch, of a job that
    reports it: PROGRESS.
    """

    name: str
    continuous: bool
    state: str
    id: str = ""
    reported_s: float | None = None
    reason: str = ""
    progress: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Status:
    """What runs of a lake. healthy: all that should run runs.

    facts: those that the deployment has of services, jobs, tables, sources and drifts (lists of dataclasses), stacks
    (CloudFormation's words by part), cluster (EMR's word, "absent" without one) and pairing (Spark and Hudi).
    """

    healthy: bool
    facts: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        return dict(asdict(self)["facts"])


@dataclass(frozen=True)
class StreamerRun:
    """The outcome of `lake streamer run`: a result with a hint to its log, or a continuous job."""

    result: dict[str, Any] = field(default_factory=dict)
    log: str = ""
    job: Job | None = None


class Jobs(Protocol):
    """The Spark jobs of one lake."""

    def all(self) -> list[Job]:
        """Continuous jobs first, then the steps that were run, the newest first."""

    def run(self, name: str, options: SalesOptions, report: Report) -> dict[str, Any]:
        """The result of a job that ends."""

    def submit(self, name: str, report: Report, options: SalesOptions = NO_OPTIONS) -> Job:
        """Starts a continuous job in place of the one that runs. Returns once the job is accepted."""

    def stop(self, name: str, report: Report) -> Job:
        """Stops a continuous job, or cancels a step by its name or id. Returns once it has ended."""

    def log(self, name: str, lines: int) -> list[str]:
        """The last lines of a job's log."""


class Deployment(Protocol):
    """One lake. Each method can be called again at any time: it skips what is done already."""

    name: str
    watchable: bool  # True if a status costs so little that `lake status --watch` may repeat it

    @property
    def protected(self) -> bool:
        """True if it must not be deleted."""

    @property
    def jobs(self) -> Jobs: ...

    def connectors(self, databases: Sequence[Database], report: Report) -> Ask:
        """A function that sends a verb to the connectors of these databases, and returns the result by connector."""

    # --- Look.

    def status(self) -> Status: ...

    def logs(self, service: str, lines: int, follow: bool) -> Iterator[str]:
        """Pieces of a log: its last lines and, with follow, all later lines."""

    def topics(self, report: Report) -> list[dict[str, Any]]:
        """The topic of each captured table, with its partitions and offsets."""

    # --- Run.

    def verify(self, names: list[str], timeout_s: float, report: Report) -> dict[str, Any]:
        """The result of spark_jobs/verify.py."""

    def run_streamer(self, options: RunOptions, report: Report) -> StreamerRun:
        """Runs HoodieStreamer."""

    def refine(self, wanted: Refinement, report: Report) -> dict[str, Any]:
        """The result of spark_jobs/refine.py."""

    # --- Build and destroy.

    def resources(self) -> list[Resource]:
        """All that exists of the lake."""

    def is_retained(self, resource: Resource, keep_data: bool) -> bool:
        """True if a teardown leaves this resource on purpose."""

    def destroy(self, keep_data: bool, report: Report) -> None:
        """Deletes the lake, in an order that keeps the retained data."""

    def check_build(self) -> None:
        """BadInput if the lake could not be built. Called before anything is deleted."""

    def build(self, report: Report) -> None:
        """Deploys and loads. Returns once every table holds every row."""

    def rebuilding(self) -> bool:
        """True if a rebuild has finished its teardown, but not its end."""

    def mark_rebuilding(self, on: bool) -> None:
        """Stores that mark in a place that a teardown does not delete."""
