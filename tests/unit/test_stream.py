"""The queries of the streaming job: when archives and table services may begin, and how far each table is."""

import json
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

from spark_jobs.events.schema_evolution import SchemaRefused
from spark_jobs.events.toast_from_table import Unfillable
from spark_jobs.runtime import storage
from spark_jobs.runtime.status import Progress
from spark_jobs.streaming import managed_queries, service_loop, streaming_job
from spark_jobs.streaming.control import REREAD, Control, Request
from spark_jobs.streaming.managed_queries import ManagedQueries, ManagedQuery
from spark_jobs.streaming.streaming_job import StreamingJob, TablesFirst, note_lags
from spark_jobs.streaming.table_writer import PoisonMessage

BUSY, IDLE = {"numInputRows": 3}, {"numInputRows": 0}
Start = Callable[[ManagedQuery], Any]


def running(progress: dict[str, Any] | None) -> Start:
    """Starts a query that tells this of its last batch."""
    return lambda _: SimpleNamespace(lastProgress=progress, isActive=True, stop=lambda: None)


def broken(_: ManagedQuery) -> Any:
    raise RuntimeError("the registry is away")


def application(release: Callable[[str], None] = lambda path: None, ends: Any = None) -> Any:
    """What the queries need of one: one archive may be in its first batch."""
    leases, broker = SimpleNamespace(release=release), SimpleNamespace(ends_of=ends)
    return SimpleNamespace(progress=Progress(), archives=SimpleNamespace(at_once=1), leases=leases, broker=broker)


def queries(*starts: Start) -> ManagedQueries:
    """The queries of a job that was begun with these."""
    made = ManagedQueries(application())
    made.reconcile({f"shop_mor.{number}": ("spec", start) for number, start in enumerate(starts)})
    return made


def test_the_tables_have_nothing_to_do() -> None:
    assert queries(running(IDLE), running(IDLE)).nothing_to_do()
    assert not queries(running(IDLE), running(BUSY)).nothing_to_do()
    assert not queries(running(IDLE), running(None)).nothing_to_do()
    assert queries().nothing_to_do()  # a job that writes archives alone


def test_a_table_that_cannot_go_on_holds_nothing_up() -> None:
    assert queries(running(IDLE), broken).nothing_to_do()


def test_tables_of_which_none_can_go_on_have_work_as_soon_as_they_can() -> None:
    """Seen when the registry had lost its store: archives took a new JVM from tables that were a minute behind."""
    assert not queries(broken, broken).nothing_to_do()


def started(first: Start) -> list[str]:
    """What begins beside an archive that was begun so, when a table and two other archives are due."""
    begun: list[str] = []

    def start(name: str) -> Start:
        def begin(managed: ManagedQuery) -> Any:
            begun.append(name)
            return running(None)(managed)

        return begin

    known: dict[str, tuple[Any, Start]] = {"bronze.a": ("spec", first)}
    made = ManagedQueries(application())
    made.reconcile(known)
    made.reconcile({**known, **{name: ("spec", start(name)) for name in ("shop_cow.a", "bronze.b", "bronze.c")}})
    return begun


def test_archives_begin_one_after_the_other() -> None:
    assert started(running(None)) == ["shop_cow.a"]
    assert started(running(BUSY)) == ["shop_cow.a", "bronze.b"]


def test_an_archive_that_fails_holds_no_other_one_up() -> None:
    assert started(broken) == ["shop_cow.a", "bronze.b"]


def test_a_query_that_is_not_wanted_any_more_ends() -> None:
    ended: list[str] = []
    query = SimpleNamespace(lastProgress=IDLE, isActive=True, stop=lambda: ended.append("query"))
    written = SimpleNamespace(path="s3a://lake/a", position={})
    writer: Any = SimpleNamespace(table=written, retire=lambda: ended.append("writer"))

    def start(managed: ManagedQuery) -> Any:
        managed.writer = writer
        return query

    made = ManagedQueries(application(release=ended.append))
    made.reconcile({"a": ("spec", start)})
    assert [one for _, one in made.of_tables()] == [writer]
    made.reconcile({})
    assert (ended, made.of_tables()) == (["query", "writer", "s3a://lake/a"], [])


def job() -> StreamingJob:
    return StreamingJob(MagicMock(sparkContext=MagicMock(defaultParallelism=2)), "pipeline.json", [])


@pytest.fixture(autouse=True)
def pipeline_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming_job, "read_pipeline", MagicMock())


def test_a_backlog_of_archives_does_not_hold_up_the_services(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []
    monkeypatch.setattr(streaming_job, "ManagedQueries", given.append)
    job()
    archives, services = given[0].archives, given[0].services
    with archives.turn():
        served = threading.Thread(target=lambda: services.turn().__enter__(), daemon=True)
        served.start()
        served.join(60)
        assert not served.is_alive()


def table(offsets: dict[str, int], topic: str = "shop.public.item") -> Any:
    return SimpleNamespace(reached={"offsets": offsets}, source=SimpleNamespace(topic=topic), position={})


def written(managed: ManagedQuery, offsets: dict[str, int], topic: str = "shop.public.item") -> ManagedQuery:
    """The same, with a table that has come so far."""
    writer: Any = SimpleNamespace(table=table(offsets, topic))
    managed.writer = writer
    return managed


def test_how_far_a_table_is() -> None:
    """What was set aside before the first row has no commit; only the query knows that it was read."""
    managed = ManagedQuery("shop_cow.item", "spec", running(None))
    assert managed.reached() == {}
    assert written(managed, {"0": 5}).reached() == {"0": 5}
    read = {"shop.public.item": {"0": 7, "1": 2}}
    for progress in (None, {"sources": []}, {"sources": [{"endOffset": None}]}):
        managed.query = SimpleNamespace(lastProgress=progress)
        assert managed.reached() == {"0": 5}
    managed.query = SimpleNamespace(lastProgress={"sources": [{"endOffset": read}]})
    assert managed.reached() == {"0": 7, "1": 2}


def test_a_table_whose_topic_is_gone_stops_and_the_others_go_on() -> None:
    stopped: list[str] = []

    def ends(topics: set[str]) -> dict[str, dict[int, int]]:
        return {topic: {0: 5} for topic in topics - {"gone"}}

    def start(topic: str) -> Start:
        def begin(managed: ManagedQuery) -> Any:
            written(managed, {}, topic)
            return SimpleNamespace(lastProgress=None, isActive=True, fail=lambda error: stopped.append(str(error)))

        return begin

    app = application(ends=ends)
    made = ManagedQueries(app)
    made.reconcile({topic: ("spec", start(topic)) for topic in ("gone", "there")})
    for now in (100.0, 107.0):
        note_lags(app, made, now)
    tables = json.loads(app.progress.to_json(0))["tables"]
    assert {name: tables[name]["behind_s"] for name in tables} == {"gone": 0, "there": 7}
    assert set(stopped) == {"topic gone does not exist"}


def test_a_kafka_that_does_not_answer_is_asked_again() -> None:
    def ends(topics: set[str]) -> dict[str, dict[int, int]]:
        raise RuntimeError("no leader")

    app = application(ends=ends)
    made = ManagedQueries(app)
    made.reconcile({"there": ("spec", lambda managed: running(None)(written(managed, {}, "there")))})
    note_lags(app, made, 100.0)
    assert json.loads(app.progress.to_json(0))["tables"]["there"]["behind_s"] == 0


class Failing:
    """A table that fails each time it begins, and is looked at when it is due. ends: of its topic."""

    def __init__(self, error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.ends = 1000.0, {0: 5}
        self.app = application(ends=lambda topics: dict.fromkeys(topics, self.ends))
        self.queries = ManagedQueries(self.app)
        self.begun: list[ManagedQuery] = []
        self._error = error
        monkeypatch.setattr(managed_queries, "time", SimpleNamespace(time=lambda: self.now))

    def pauses(self, number: int) -> list[float]:
        """How long the table waits after each of its next failures."""
        return [self._pause() for _ in range(number)]

    def left(self) -> float:
        """How long it still waits, when the ends of its topic were looked at."""
        note_lags(self.app, self.queries, 0)
        return self.begun[-1].retry_at - self.now

    def _pause(self) -> float:
        self.now = self.begun[-1].retry_at if self.begun else self.now
        self.queries.reconcile({"shop_mor.item": ("spec", self._start)})
        return self.left()

    def _start(self, managed: ManagedQuery) -> Any:
        self.begun.append(written(managed, {"0": 3}))
        raise self._error


AGAIN = [PoisonMessage("offset 3 can't be applied"), SchemaRefused("a lost its type"), Unfillable("b is missing", {})]


@pytest.mark.parametrize("error", AGAIN, ids=lambda error: type(error).__name__)
def test_what_only_other_messages_can_help_is_tried_less_and_less(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Failing(error, monkeypatch).pauses(11) == [1, 2, 5, 10, 30, 60, 120, 240, 480, 600, 600]


def test_what_may_be_over_at_any_time_is_tried_on(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Failing(RuntimeError("the registry is away"), monkeypatch).pauses(7) == [1, 2, 5, 10, 30, 30, 30]


def test_a_new_message_ends_a_long_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be the correction. A table that gets messages all the time is not tried all the time."""
    table = Failing(AGAIN[0], monkeypatch)
    assert table.pauses(8)[-1] == 240
    table.now, table.ends = table.now + 4, {0: 6}
    assert table.left() == 26
    assert table.pauses(2) == [30, 60]


def test_a_request_to_read_again_ends_a_long_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Failing(AGAIN[0], monkeypatch)
    assert table.pauses(8)[-1] == 240
    request = Request("1", REREAD, {"table": "shop_mor.item", "offsets": {"0": 0}})
    control = SimpleNamespace(pending=lambda *verbs: [request] if REREAD in verbs else [])
    monkeypatch.setattr(service_loop, "Control", lambda *_: control)
    monkeypatch.setattr(service_loop.table_services, "is_due", lambda *_: False)
    pipeline: Any = SimpleNamespace(requests="requests", silver={"service_commits": 10})
    table.app.spark = table.app.quarantines = None
    service_loop.serve(table.app, pipeline, table.queries)
    assert table.left() == 30


@pytest.mark.parametrize("stopping", [False, True])
def test_a_thread_that_fails_ends_the_job(stopping: bool) -> None:
    """A job without table services would grow its logs for ever, and look well."""

    def serve() -> None:
        raise RuntimeError("no such bucket")

    begun = job()
    if stopping:
        begun.stop()
    begun.repeat("serve", serve, 0).join(60)
    assert begun.failed == (not stopping)


@pytest.mark.parametrize(
    ("rows", "seconds_left", "requests", "served"),
    [
        (3, 50, ["answers"], False),
        (0, 50, [], True),
        (3, -1, [], True),
        (3, 50, ["answers", "1.json"], True),
    ],
)
def test_the_first_time_of_a_job_is_the_tables(
    monkeypatch: pytest.MonkeyPatch,
    rows: int,
    seconds_left: float,
    requests: list[str],
    served: bool,
) -> None:
    monkeypatch.setattr(storage, "names", lambda *_: requests)
    spark: Any = None
    tables_first, control = TablesFirst(seconds_left), Control(spark, "requests")
    tables_first.look(queries(running({"numInputRows": rows})).nothing_to_do, control.has_requests)
    assert tables_first.over == served
