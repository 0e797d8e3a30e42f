"""A commit of the appender that is killed, or whose requests to S3 fail, is whole or absent; and nothing else is lost.

The table is on a store like S3 (faulty_store.py). Rows of a commit that fails are ghosts: no later batch repeats them,
so a reader that takes one of its blocks is seen. The tests go on with one table, in which ever more has happened.
"""

import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from lake.config import versions
from lake.local.spark_submit import spark_home
from spark_jobs.hudi import timeline
from spark_jobs.hudi.write_client import write_client
from tests.spark.appended import Turns
from tests.spark.conftest import HOME
from tests.spark.faulty_store import CLASSES, ROOT, SAME, Store

COLUMNS = "id int, name string, __deleted string, _order bigint"
STEPS = ("requested", "inflight", "marker", ".log.", "deltacommit")  # what a commit of one bucket writes, in this order
pytestmark = pytest.mark.skipif(HOME.release != versions.EMR, reason="Hudi 0.15 has other classes (ADR 37)")
Row = tuple[Any, ...]


class Trial:
    """A table of two buckets, and the rows that have to be in it."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.store = Store(spark)
        self.folder = folder
        self.turns = Turns(spark, folder, COLUMNS, buckets=2, store=ROOT)
        self.expected: dict[int, Row] = {}
        self.moments: list[tuple[str, list[Row]]] = []
        self._order = 0
        self.turns.general(self.accept(range(10)))

    def batch(self, ids: Any, name: str = "new") -> list[Row]:
        """Newer rows than all before."""
        self._order += 1
        return [(id, f"{name} {self._order}", "false", self._order) for id in ids]

    def accept(self, ids: Any) -> list[Row]:
        rows = self.batch(ids)
        self.expected.update({row[0]: row for row in rows})
        return rows

    def deliver(self, ids: Any) -> list[str]:
        """A batch as the streaming job applies it. Returns its requests to the store."""
        with self.store.noted() as requests:
            self.turns.deliver(self.accept(ids))
        self.moments.append((self.turns.instants[-1], self.rows))
        return requests

    def deliver_again(self, ids: Any) -> None:
        """As a job that is started again after an error, once."""
        rows = self.accept(ids)
        self.turns.restart()
        try:
            self.turns.deliver(rows)
        except Py4JJavaError:
            self.turns.restart()
            self.turns.deliver(rows)

    def begin(self, ids: Any = (1,)) -> list[str]:
        """Commits by the appender, which then holds the table. Returns the requests of such a commit."""
        self.moments.clear()
        self.deliver(ids)
        self.deliver(ids)
        requests = self.deliver(ids)
        assert [step(requests[number - 1]) for number in puts(requests)][:3] == list(STEPS[:3])
        return requests

    def fail(self, kind: str, number: int, ids: Any) -> tuple[str, bool]:
        """A batch of ghosts meets the fault. Returns the request that met it, and whether the commit is whole."""
        ghosts = self.batch(ids, "ghost")
        with self.store.fault(kind, number) as requests, pytest.raises(Py4JJavaError):
            self.turns.deliver(ghosts)
        whole = timeline.last_instant(self.turns.spark, self.turns.path) != self.turns.instants[-1]
        if whole:
            self.expected.update({row[0]: row for row in ghosts})
        return requests[number - 1], whole

    @property
    def rows(self) -> list[Row]:
        return sorted(self.expected.values(), key=repr)

    def check(self) -> None:
        assert self.turns.rows() == self.rows

    def archive(self) -> None:
        """Archives all that has happened. All reads are as before, also as of before each failure."""
        self.turns.archive(keep=2)
        self.check()
        self.check_moments()

    def check_moments(self) -> None:
        for instant, rows in self.moments[::4]:
            assert self.turns.at(instant) == rows

    def compact(self) -> None:
        """The same with a compaction, which is planned before a commit and runs after it."""
        self.turns.plan_compaction()
        self.deliver([1])
        self.turns.compact()
        self.deliver([2])
        self.check()
        self.check_moments()


@pytest.fixture(scope="module")
def trial(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trial]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("spark_jobs.hudi.hive_sync.sync", lambda *_: None)
        yield Trial(spark, tmp_path_factory.mktemp("trial"))


def puts(requests: list[str]) -> list[int]:
    """The numbers of those that change the table."""
    return [number for number, one in enumerate(requests, 1) if one.startswith(("PUT", "DELETE"))]


def step(request: str) -> str:
    return next(name for name in STEPS if name in request)


def number_of(wanted: str, requests: list[str]) -> int:
    return next(number for number in puts(requests) if step(requests[number - 1]) == wanted)


def test_a_commit_killed_at_any_step_is_whole_or_absent(trial: Trial) -> None:
    """Requested, in flight, marker and block of each bucket, completed: before the first one, and after each."""
    changes = puts(trial.begin(range(10)))
    kills = [("KILLED_BEFORE", changes[0]), *(("KILLED_AFTER", number) for number in changes)]
    steps = []
    for place, (kind, number) in enumerate(kills):
        request, whole = trial.fail(kind, number, range(10))
        steps.append(step(request))
        assert whole == (place == len(changes))
        trial.turns.restart()
        trial.check()
        trial.deliver([0, 5])
        trial.check()
        trial.deliver([place])
    requested, inflight, marker, block, completed = STEPS
    assert steps == [requested, requested, inflight, *[marker, block] * 2, completed]
    trial.archive()
    trial.compact()


@pytest.mark.slow
def test_a_commit_killed_beside_a_planned_compaction(trial: Trial) -> None:
    """Its block is in a file slice that has no base file yet."""
    trial.turns.plan_compaction()
    number = number_of(".log.", trial.begin(range(10)))
    trial.fail("KILLED_AFTER", number, range(10))
    trial.turns.restart()
    trial.check()
    trial.deliver([0, 5])
    trial.deliver([1])
    trial.turns.compact()
    trial.deliver([2])
    trial.check_moments()
    trial.archive()


@pytest.mark.slow
def test_a_request_that_fails_loses_nothing(trial: Trial) -> None:
    """Each request of a commit: the same job applies the batch again, and goes on."""
    requests = trial.begin()
    changes = puts(requests)
    faults = [("REFUSED", number) for number in range(1, changes[-1] + 1)]
    faults += [("ANSWER_LOST", number) for number in changes]
    faults += [("GONE", number_of(".log.", requests))]
    for kind, number in faults:
        request, whole = trial.fail(kind, number, [1])
        assert whole == (kind == "ANSWER_LOST" and number == changes[-1]), request
        trial.deliver([1])
        trial.check()
        trial.deliver([1])
    trial.archive()


@pytest.mark.slow
def test_what_s3_carries_out_late_changes_nothing(trial: Trial) -> None:
    """After its sender gave up, rolled it back and made the next commit."""
    requests = trial.begin()
    for late in STEPS:
        trial.fail("LATE", number_of(late, requests), [1])
        trial.deliver([0])
        trial.store.arrive()
        trial.check()
        trial.deliver_again([0])
        trial.deliver([0])
        trial.deliver([0])
    trial.archive()
    trial.compact()


@pytest.mark.slow
def test_a_job_that_wakes_up_after_another_one_took_its_table_commits_nothing(trial: Trial) -> None:
    """Stopped before its last file, it has looked already and ends its commit: the other's rollback hides its rows."""
    requests = trial.begin()
    for held in STEPS[1:]:
        other = Turns(trial.turns.spark, trial.folder, COLUMNS, buckets=2, store=SAME)
        stopped = Stopped(trial, trial.batch([1], "ghost"))
        with trial.store.fault("HELD", number_of(held, requests)):
            stopped.start()
            trial.store.await_held()
            other.deliver(trial.accept([0]))
            trial.store.release()
            stopped.join()
        assert held == STEPS[-1] or stopped.problem is not None, held
        assert other.rows() == trial.rows, held
        trial.deliver_again([0])
        trial.deliver([1])
        trial.deliver([1])
    trial.archive()
    trial.compact()


class Stopped(threading.Thread):
    """A job that is stopped in the midst of a commit."""

    problem: Exception | None = None

    def __init__(self, trial: Trial, rows: list[Row]) -> None:
        super().__init__()
        self._turns, self._rows = trial.turns, rows

    def run(self) -> None:
        try:
            self._turns.deliver(self._rows)
        except Exception as error:
            self.problem = error


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "at"), [("HALTED_BEFORE", "deltacommit"), ("HALTED_AFTER", ".log.")])
def test_a_process_that_is_killed(trial: Trial, tmp_path: Path, fault: str, at: str) -> None:
    """One of its own, which halts at that request. What it has not sent is lost with it."""
    trial.begin(range(10))
    appender = trial.turns.appender()
    with trial.store.noted() as requests:
        trial.turns.commit(appender, trial.accept(range(10)))
    number = number_of(at, requests)
    ghosts = trial.batch(range(10), "ghost")
    killed = subprocess.run(process(trial, tmp_path, ghosts[0][3], number, fault), capture_output=True, text=True)
    assert killed.returncode == 137, killed.stderr
    trial.turns.restart()
    trial.check()
    trial.deliver([0, 5])
    trial.deliver([1])
    trial.archive()


def process(trial: Trial, folder: Path, order: int, number: int, fault: str) -> list[str]:
    """The command line of lake.hudi.HaltedAppend (hudi_index/src/test)."""
    options = folder / "options"
    with closing(write_client(trial.turns.spark, trial.turns.target)) as client:
        properties = client.getConfig().getProps()
        options.write_text("".join(f"{name}={properties[name]}\n" for name in properties))
    jars = f"{HOME.spark_build}/spark/*:{spark_home(HOME)}/jars/*:{CLASSES}"
    arguments = (options, trial.turns.schema.json(), order, number, fault)
    return ["java", "-XX:TieredStopAtLevel=1", "-cp", jars, "lake.hudi.HaltedAppend", *map(str, arguments)]
