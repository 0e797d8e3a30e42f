"""The flows of the streaming job: when archives and table services may begin, and how far each table is."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from spark_jobs.stream import Flow, Stream

if TYPE_CHECKING:
    from spark_jobs.guard import Guard


@pytest.mark.parametrize(
    ("query", "failures", "has_run"),
    [
        (None, 0, False),
        (SimpleNamespace(lastProgress=None), 0, False),
        (SimpleNamespace(lastProgress={"batchId": 3}), 0, True),
        (None, 1, True),  # a table that can't go on holds nothing up
    ],
)
def test_a_table_has_run(query: Any, failures: int, has_run: bool) -> None:
    flow = Flow("spec", lambda: None)
    flow.query, flow.failures = query, failures
    assert flow.has_run() == has_run


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
