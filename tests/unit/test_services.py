"""Table services: what fails is told, is tried again soon, and holds up nothing else."""

import json
import sys
import threading
from argparse import Namespace
from functools import partial
from typing import Any
from unittest.mock import MagicMock

import pytest

from lake.clients.table_status import of_report
from spark_jobs.hudi import service_schedule, table_services
from spark_jobs.hudi.service_schedule import ServiceSchedule, Unserved
from spark_jobs.runtime.status import Progress
from tests.clocks import replace_time

NAME = "shop_mor.item"


def schedule(kind: str = "mor", partitioned: bool = False, commits: int = 0, size: int = 0) -> ServiceSchedule:
    return ServiceSchedule(kind, partitioned, Unserved(commits, size), committed_at=0.0)


class Serving:
    """A table whose services note that they ran; `broken` ones fail."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ran: list[str] = []
        self.broken: set[str] = set()
        self.done: set[str] = set()
        self.now = 1000.0
        self.progress = Progress()
        self.progress.update(NAME, state="running")
        metastore = Namespace(sync=lambda: self._run("sync"), failure="")
        self.table: Any = Namespace(name=NAME, schedule=schedule(), metastore=metastore)
        replace_time(monkeypatch, table_services, time=lambda: self.now)
        monkeypatch.setattr(table_services.delete_orphans, "delete_requested", lambda *given: self._run("orphans"))
        monkeypatch.setattr(table_services, "serve_due", lambda *given: self._run("serve"))
        monkeypatch.setattr(table_services, "count_due", lambda *given: self._run("count"))

    def _run(self, name: str) -> None:
        self.ran.append(name)
        if name in self.broken:
            raise ValueError(f"{name} is broken")

    def attend(self) -> list[str]:
        self.ran = []
        self.done = table_services.attend(self.table, self.progress, 60, False, [])
        return self.ran

    def reason(self) -> str:
        (table,) = of_report(json.loads(self.progress.to_json(self.now))["tables"], 0, 60)
        return table.reason


@pytest.fixture
def serving(monkeypatch: pytest.MonkeyPatch) -> Serving:
    return Serving(monkeypatch)


def test_what_fails_holds_up_nothing_else_and_is_told(serving: Serving) -> None:
    serving.broken = {"orphans", "serve"}
    assert serving.attend() == ["sync", "orphans", "serve", "count"]
    assert serving.reason().startswith("table service failed: orphans is broken; serve is broken; it is tried again")


def test_only_what_did_not_fail_is_done(serving: Serving) -> None:
    serving.broken = {"serve"}
    serving.attend()
    assert serving.done == {"sync", table_services.DELETE_ORPHANS, "count"}
    serving.attend()
    assert serving.done == set(), "it waits for its next try"


def test_it_is_tried_again_soon_but_not_at_once(serving: Serving) -> None:
    serving.broken = {"serve"}
    serving.attend()
    serving.broken = set()
    assert serving.attend() == []
    serving.now += service_schedule.RETRY_S
    assert serving.attend() == ["sync", "orphans", "serve", "count"]
    assert serving.reason() == ""


def test_the_wait_grows_with_each_failure() -> None:
    plan, now, waits = schedule(), 1000.0, []
    for _ in range(8):
        plan.tried(failed=True, now=now)
        waits.append(next(seconds for seconds in range(100) if plan.may_try(now + seconds)))
        now += waits[-1]
    assert waits == [10, 20, 40, 60, 60, 60, 60, 60]


@pytest.mark.parametrize(
    ("lacking", "refused", "asked", "left"),
    [
        ("abc", "", "abc", ""),
        ("ac", "", "ac", ""),
        ("abc", "abc", "a", "abc"),  # away: the others need not ask
        ("abc", "b", "ab", "bc"),
    ],
)
def test_the_metastore_is_told_what_it_missed(lacking: str, refused: str, asked: str, left: str) -> None:
    told, progress, tables = "", Progress(), {}

    def sync(name: str) -> None:
        nonlocal told
        told += name
        tables[name].metastore.failure = "refused" if name in refused else ""

    for name in "abc":
        progress.update(name, state="running")
        metastore = Namespace(failure="away" if name in lacking else "", sync=partial(sync, name))
        tables[name] = Namespace(name=name, metastore=metastore)
    table_services.sync_overdue(list[Any](tables.values()), progress)
    assert (told, "".join(name for name, table in tables.items() if table.metastore.failure)) == (asked, left)
    facts = json.loads(progress.to_json(0))["tables"]
    assert {name: facts[name]["sync_failure"] for name in asked} == {
        name: "refused" if name in refused else "" for name in asked
    }


def test_a_table_that_is_no_longer_written_does_not_come_back(serving: Serving) -> None:
    serving.progress.forget(NAME)
    serving.attend()
    assert json.loads(serving.progress.to_json(serving.now))["tables"] == {}


@pytest.mark.parametrize(
    ("committed_s_ago", "counted_s_ago", "commits_since_service", "due"),
    [
        (6, 60, 50, True),  # it fell quiet
        (1, 60, 0, False),
        (1, 301, 20, True),  # a compaction left few log files
        (1, 301, 21, False),
        (1, 1801, 50, True),  # no compaction came
        (60, 6, 0, False),  # nothing new
    ],
)
def test_rows_are_counted_when_that_is_cheap_and_at_last_anyway(
    committed_s_ago: float, counted_s_ago: float, commits_since_service: int, due: bool
) -> None:
    now, rows = 10_000.0, MagicMock()
    rows.where().count.return_value = 7
    plan = ServiceSchedule("mor", False, Unserved(commits_since_service, 0), committed_at=now - committed_s_ago)
    plan.counted(now - counted_s_ago)
    table: Any = Namespace(name=NAME, schedule=plan, read=lambda: rows)
    progress = Progress()
    progress.update(NAME, state="running")
    for _ in range(2):
        table_services.count_due(table, progress, now)
    assert rows.where().count.call_count == due, "and not again as long as nothing is new"
    assert json.loads(progress.to_json(now))["tables"][NAME].get("rows") == (7 if due else None)


@pytest.mark.parametrize(
    ("kind", "partition", "commits", "size", "due"),
    [
        ("mor", None, 59, 2**28 - 1, False),
        ("mor", None, 60, 0, True),
        ("mor", None, 3, 2**28, True),
        ("mor", "place", 14, 0, False),
        ("mor", "place", 15, 0, True),
        ("cow", None, 3, 2**30, False),
        ("cow", "place", 59, 0, False),
        ("cow", "place", 60, 0, True),
    ],
)
def test_a_table_is_served_after_so_many_commits_or_bytes_of_log(
    monkeypatch: pytest.MonkeyPatch, kind: str, partition: str | None, commits: int, size: int, due: bool
) -> None:
    checks: list[bool] = []
    metastore = Namespace(check=lambda: checks.append(True))
    plan = schedule(kind, bool(partition), commits, size)
    table: Any = Namespace(name=NAME, schedule=plan, metastore=metastore)

    def serve(table: Any) -> None:
        for written in (3, 4):
            plan.committed(written, has_rows=True)

    monkeypatch.setattr(table_services, "serve", serve)
    table_services.serve_due(table, 60, False)
    assert plan.unserved == ((2, 7) if due else (commits, size))
    assert bool(checks) == due  # somebody may have dropped the table from the metastore


def test_no_commit_is_lost_between_writer_and_services() -> None:
    """Two threads, which the interpreter interrupts as often as it can."""
    interval, plan, rounds, served = sys.getswitchinterval(), schedule(), 5000, 0
    writer = threading.Thread(target=lambda: [plan.committed(2, has_rows=False) for _ in range(rounds)])
    sys.setswitchinterval(1e-6)
    try:
        writer.start()
        while writer.is_alive():
            before = plan.unserved
            plan.served(before)
            served += before.commits
    finally:
        sys.setswitchinterval(interval)
        writer.join()
    left = plan.unserved
    assert (served + left.commits, left.size) == (rounds, 2 * left.commits)
