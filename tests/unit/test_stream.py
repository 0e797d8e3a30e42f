"""The flows of the streaming job: when archives and table services may begin, and how far each table is."""

import threading
import time
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast
from unittest.mock import MagicMock

import pytest

from spark_jobs.runtime import storage
from spark_jobs.stream import Flow, Stream

if TYPE_CHECKING:
    from spark_jobs.streaming.table_writer import Guard


def flow(progress: dict[str, Any] | None) -> Flow:
    """A flow whose query has told this of its last batch."""
    made = Flow("spec", lambda: None)
    made.query = SimpleNamespace(lastProgress=progress)
    return made


def stuck() -> Flow:
    made = Flow("spec", lambda: None)
    made.failed("the registry is away", now=0.0)
    return made


BUSY, IDLE = {"numInputRows": 3}, {"numInputRows": 0}


def nothing_to_do(*flows: Flow) -> bool:
    return Stream._nothing_to_do(cast(Any, SimpleNamespace(_flows=dict(enumerate(flows)))))


def test_the_tables_have_nothing_to_do() -> None:
    assert nothing_to_do(flow(IDLE), flow(IDLE))
    assert not nothing_to_do(flow(IDLE), flow(BUSY))
    assert not nothing_to_do(flow(IDLE), flow(None))
    assert not nothing_to_do(flow(IDLE), Flow("spec", lambda: None))  # it has not begun
    assert nothing_to_do()  # a job that writes archives alone


def test_a_table_that_cannot_go_on_holds_nothing_up() -> None:
    assert nothing_to_do(flow(IDLE), stuck())


def test_tables_of_which_none_can_go_on_have_work_as_soon_as_they_can() -> None:
    """Seen when the registry had lost its store: archives took a new JVM from tables that were a minute behind."""
    assert not nothing_to_do(stuck(), stuck())
    again = stuck()
    again.query = SimpleNamespace(lastProgress=BUSY)
    assert not nothing_to_do(flow(IDLE), again)


def few_archives(flow: Flow, due: list[str]) -> list[str]:
    stream: Any = SimpleNamespace(_flows={"bronze.a": flow}, _archives=SimpleNamespace(at_once=1))
    return Stream._few_archives(stream, due)


def test_archives_begin_one_after_the_other() -> None:
    due = ["shop_cow.a", "bronze.b", "bronze.c"]
    assert few_archives(flow(None), due) == ["shop_cow.a"]
    assert few_archives(flow(BUSY), due) == ["shop_cow.a", "bronze.b"]


def test_an_archive_that_fails_holds_no_other_one_up() -> None:
    assert few_archives(stuck(), ["bronze.b"]) == ["bronze.b"]


def test_a_backlog_of_archives_does_not_hold_up_the_services(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spark_jobs.stream.read_pipeline", MagicMock())
    stream = Stream(MagicMock(sparkContext=MagicMock(defaultParallelism=2)), "pipeline.json", [])
    with stream._archives.turn():
        served = threading.Thread(target=lambda: stream._services.turn().__enter__(), daemon=True)
        served.start()
        served.join(60)
        assert not served.is_alive()


def test_how_far_a_table_is() -> None:
    """What was set aside before the first row has no commit; only the query knows that it was read."""
    flow = Flow("spec", lambda: None)
    assert flow.reached() == {}
    written: Any = SimpleNamespace(offsets={"0": 5}, table=SimpleNamespace(topic="shop.public.item"))
    flow.guard = cast("Guard", SimpleNamespace(silver=written))
    assert flow.reached() == {"0": 5}
    read = {"shop.public.item": {"0": 7, "1": 2}}
    for progress in (None, {"sources": []}, {"sources": [{"endOffset": None}]}):
        flow.query = SimpleNamespace(lastProgress=progress)
        assert flow.reached() == {"0": 5}
    flow.query = SimpleNamespace(lastProgress={"sources": [{"endOffset": read}]})
    assert flow.reached() == {"0": 7, "1": 2}


def test_a_topic_that_kafka_says_nothing_of_is_no_obstacle() -> None:
    def ends(topic: str) -> dict[int, int]:
        if topic == "gone":
            raise RuntimeError("no leader")
        return {0: 5}

    stream: Any = SimpleNamespace(_broker=SimpleNamespace(ends=ends))
    assert [Stream._ends(stream, topic) for topic in ("gone", "there")] == [{}, {0: 5}]


@pytest.mark.parametrize("stopping", [False, True])
def test_a_thread_that_fails_ends_the_job(stopping: bool) -> None:
    """A job without table services would grow its logs for ever, and look well."""
    ended: list[str] = []
    stream: Any = SimpleNamespace(_lose=ended.append, _stopping=SimpleNamespace(is_set=lambda: stopping))

    def _serve() -> None:
        raise RuntimeError("no such bucket")

    Stream._attended(stream, _serve)
    assert ended == ([] if stopping else ["serve: no such bucket"])


@pytest.mark.parametrize(
    ("rows", "seconds_left", "services", "settled", "served"),
    [
        (3, 50, ["quarantine"], [], False),  # the folder stays when its requests are answered
        (0, 50, [], [], True),
        (3, -1, [], [], True),
        (3, 50, ["shop_mor.a"], [], True),
        (3, 50, ["quarantine"], ["requests/quarantine/1.json"], True),
    ],
)
def test_the_first_time_of_a_job_is_the_tables(
    monkeypatch: pytest.MonkeyPatch,
    rows: int,
    seconds_left: float,
    services: list[str],
    settled: list[str],
    served: bool,
) -> None:
    monkeypatch.setattr(storage, "names", lambda *_: services)
    stream: Any = SimpleNamespace(
        _spark=None,
        _flows={"shop_cow.a": flow({"numInputRows": rows})},
        _tables_served=threading.Event(),
        _tables_first_until=time.monotonic() + seconds_left,
        _desk=SimpleNamespace(asked=lambda _: settled),
    )
    stream._asked = partial(Stream._asked, stream)
    stream._nothing_to_do = partial(Stream._nothing_to_do, stream)
    Stream._see_tables_served(stream, SimpleNamespace(requests="requests"))  # type: ignore[arg-type]
    assert stream._tables_served.is_set() == served
