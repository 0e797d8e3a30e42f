"""The flows of the streaming job: when archives and table services may begin, and how far each table is."""

import threading
import time
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from spark_jobs import storage
from spark_jobs.background import REST_MAX_S
from spark_jobs.stream import Flow, Stream

if TYPE_CHECKING:
    from spark_jobs.guard import Guard


def flow(progress: dict[str, Any] | None, failures: int = 0) -> Flow:
    """A flow whose query has told this of its last batch."""
    made = Flow("spec", lambda: None)
    made.query, made.failures = SimpleNamespace(lastProgress=progress), failures
    return made


def told(rows: int, seconds: float) -> dict[str, Any]:
    return {"numInputRows": rows, "durationMs": {"triggerExecution": int(1000 * seconds)}}


@pytest.mark.parametrize(
    ("progress", "failures", "idle"),
    [
        (None, 0, False),
        (told(3, 1), 0, False),
        (told(0, 1), 0, True),
        (None, 1, True),  # a table that can't go on holds nothing up
    ],
)
def test_a_table_has_nothing_to_do(progress: dict[str, Any] | None, failures: int, idle: bool) -> None:
    assert flow(progress, failures).idle() == idle


def test_a_table_that_has_not_begun_is_not_idle() -> None:
    assert not Flow("spec", lambda: None).idle()


def test_archives_begin_one_after_the_other_and_rest_in_between() -> None:
    first = flow(None)
    first.began(100.0)
    stream: Any = SimpleNamespace(_flows={"bronze.a": first}, _background=SimpleNamespace(at_once=1))
    due = ["shop_cow.a", "bronze.b", "bronze.c"]
    assert Stream._few_archives(stream, due, 101.0) == ["shop_cow.a"]
    first.query = SimpleNamespace(lastProgress=told(9, 4.0))
    assert Stream._few_archives(stream, due, 111.9) == ["shop_cow.a"]
    first.query = SimpleNamespace(lastProgress=told(0, 0.1))  # a later look takes nothing from the rest
    assert Stream._few_archives(stream, due, 111.9) == ["shop_cow.a"]
    assert Stream._few_archives(stream, due, 112.1) == ["shop_cow.a", "bronze.b"]


def test_an_archive_that_waited_for_kafka_holds_no_other_one_up() -> None:
    first = flow(told(9, 900.0))
    first.began(100.0)
    stream: Any = SimpleNamespace(_flows={"bronze.a": first}, _background=SimpleNamespace(at_once=1))
    assert Stream._few_archives(stream, ["bronze.b"], 1000.0) == []
    assert Stream._few_archives(stream, ["bronze.b"], 1000.1 + REST_MAX_S) == ["bronze.b"]


def test_an_archive_that_fails_holds_no_other_one_up() -> None:
    failing = flow(None, failures=1)
    failing.query = None
    stream: Any = SimpleNamespace(_flows={"bronze.a": failing}, _background=SimpleNamespace(at_once=1))
    assert Stream._few_archives(stream, ["bronze.b"], 1.0) == ["bronze.b"]


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
        _flows={"shop_cow.a": flow(told(rows, 1))},
        _tables_served=threading.Event(),
        _tables_first_until=time.monotonic() + seconds_left,
        _desk=SimpleNamespace(asked=lambda _: settled),
    )
    stream._asked = partial(Stream._asked, stream)
    Stream._see_tables_served(stream, SimpleNamespace(requests="requests"))  # type: ignore[arg-type]
    assert stream._tables_served.is_set() == served
