"""The feed of one table: where it begins, which road its batches take, and how it ends."""

import threading
from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from spark_jobs.kafka.admin import Offsets, Topic
from spark_jobs.runtime.status import Progress
from spark_jobs.streaming.table_feed import TableFeed

TOPIC = "lab.public.t"
HERE = Topic("id", 1)


class Rig:
    """A table at offset 5 of a topic that begins at 2 and ends at 9; plain: what append() answers."""

    def __init__(
        self, plain: dict[str, int] | None = None, topic: Topic = HERE, position: Any = None, master: str = "local[*]"
    ) -> None:
        self.calls: list[Any] = []
        self.plain = plain
        self.ended = threading.Event()
        self.end = {0: 9}
        reached = {"offsets": {"0": 5} if position is None else position}
        metastore = SimpleNamespace(after_commit=lambda: None, failure="")
        self.table = SimpleNamespace(
            name="lab_mor.t",
            source=SimpleNamespace(topic=TOPIC),
            reached=reached,
            can_append=plain is not None or position is None,
            metastore=metastore,
            read_from=lambda topic: self.calls.append(("read from", topic)),
            refuse_gap=lambda begin: self.calls.append(("begin", begin)),
        )
        self.writer = SimpleNamespace(
            table=self.table,
            append=lambda messages: self.plain,
            prepare=lambda: None,
            read_range=lambda begin, end: (begin, end),
            write=self.write,
        )
        broker = SimpleNamespace(
            topic=lambda name: topic, offsets=lambda name: Offsets({0: 2}, self.end), ends=lambda name: self.end
        )
        self.behind = 1
        context = SimpleNamespace(
            master=master, setJobGroup=lambda *_: None, cancelJobGroup=lambda name: self.calls.append("cancel")
        )
        app: Any = SimpleNamespace(
            broker=broker,
            loop=self,
            progress=Progress(),
            slots=SimpleNamespace(slot=lambda name: nullcontext()),
            spark=SimpleNamespace(sparkContext=context),
        )
        writer: Any = self.writer
        self.feed = TableFeed(app, writer, freshness_s=1.0, most=3)

    def write(self, batch: Any) -> None:
        self.calls.append(("write", batch))

    # --- What a loop does.

    def add(self, table: TableFeed, end: dict[str, int]) -> None:
        self.calls.append(("add", dict(table.reached), end))
        self.ended.set()

    def remove(self, table: TableFeed) -> None:
        self.calls.append("remove")
        self.ended.set()

    def advanced(self, table: TableFeed) -> None:
        self.calls.append(("advanced", dict(table.reached)))
        self.ended.set()

    def is_behind(self, table: TableFeed) -> bool:
        return False

    def waiting(self, table: TableFeed) -> int:
        return self.behind

    def messages(self, table: TableFeed) -> str:
        return "messages"

    def await_end(self) -> None:
        """Of what the feed does in a thread."""
        assert self.ended.wait(60)
        for thread in threading.enumerate():
            if thread.name == self.feed.name:
                thread.join(60)
        self.ended.clear()


def begun(**settings: Any) -> Rig:
    rig = Rig(**settings)
    rig.feed.begin()
    rig.await_end()
    return rig


def test_it_begins_where_the_last_commit_ends() -> None:
    rig = begun()
    assert rig.calls == [("read from", HERE), ("begin", {0: 2}), ("add", {"0": 5}, {"0": 9})]
    assert (rig.feed.isActive, rig.feed.lastProgress) == (True, {"numInputRows": 0, "sources": sources({"0": 5})})


def sources(offsets: dict[str, int]) -> list[Any]:
    return [{"endOffset": {TOPIC: offsets}}]


def test_a_table_without_commits_begins_where_the_topic_does() -> None:
    assert begun(position={}).feed.reached == {"0": 2}


def test_a_topic_that_is_not_there_is_a_failure() -> None:
    rig = begun(topic=Topic("", 0))
    assert not rig.feed.isActive
    assert str(rig.feed.exception()) == f"topic {TOPIC} does not exist"


def test_a_plain_batch_is_committed_at_once() -> None:
    rig = begun(plain={"0": 9})
    now = rig.feed.next_at
    rig.feed.turn(HERE)
    assert rig.calls[-2:] == [("read from", HERE), ("advanced", {"0": 9})]
    assert rig.feed.next_at > now


def test_the_next_commit_comes_after_half_of_the_freshness() -> None:
    rig = begun(plain={"0": 7})
    rig.feed.turn(HERE)
    at = rig.feed.next_at
    assert not rig.feed.is_due(at - 0.01, {"0": 9})
    assert rig.feed.is_due(at, {"0": 9})
    assert not rig.feed.is_due(at, {"0": 7}), "it has all that has arrived"


@pytest.mark.parametrize("settings", [{"plain": None}, {"plain": None, "position": {"0": 5}}], ids=["not", "never"])
def test_any_other_batch_is_written_in_a_thread_and_has_so_many_messages_at_most(settings: dict[str, Any]) -> None:
    rig = begun(**settings)
    rig.feed.turn(HERE)
    rig.await_end()
    assert rig.calls[-3:] == [("write", ({"0": 5}, {"0": 8})), ("read from", HERE), ("advanced", {"0": 8})]


def test_many_messages_are_for_the_executors_if_there_are_some() -> None:
    for master, behind, written in (("yarn", 50_001, True), ("yarn", 50_000, False), ("local[*]", 50_001, False)):
        rig = begun(plain={"0": 9}, master=master)
        rig.behind = behind
        rig.feed.turn(HERE)
        rig.await_end()
        assert (("write", ({"0": 5}, {"0": 8})) in rig.calls) is written


def test_while_another_thread_has_the_table_nothing_happens() -> None:
    rig = begun(plain={})
    rig.feed.turn(HERE)
    assert (rig.calls[-1], rig.feed.reached) == (("read from", HERE), {"0": 5})


def raising(error: Exception) -> Callable[..., None]:
    def fail(*_: Any) -> None:
        raise error

    return fail


def test_a_batch_that_fails_stops_this_table() -> None:
    rig = begun(plain=None)
    rig.writer.write = raising(ValueError("poison"))
    rig.feed.turn(HERE)
    rig.await_end()
    assert (rig.calls[-1], rig.feed.isActive, str(rig.feed.exception())) == ("remove", False, "poison")


def test_a_topic_that_was_made_again_stops_this_table() -> None:
    rig = begun(plain={"0": 9})
    rig.table.read_from = raising(ValueError("made again"))
    rig.feed.turn(HERE)
    assert (rig.feed.isActive, str(rig.feed.exception()), rig.feed.reached) == (False, "made again", {"0": 5})


def test_stopped_it_begins_no_batch_and_cancels_the_present_one() -> None:
    rig = begun(plain={"0": 9})
    rig.feed.stop()
    assert rig.calls[-2:] == ["remove", "cancel"]
    assert (rig.feed.isActive, rig.feed.exception()) == (False, None)
    assert not rig.feed.is_due(rig.feed.next_at, {"0": 9})


def test_a_topic_is_read_again_on_request() -> None:
    """Not before its turn: the batch in flight would reach its own end afterwards."""
    rig = begun(plain={"0": 9})
    rig.feed.rewind({"0": 1, "7": 3})
    assert (rig.feed.reached, rig.feed.is_due(rig.feed.next_at, {"0": 5})) == ({"0": 5}, True)
    rig.feed.turn(HERE)
    assert (rig.calls[-1], rig.feed.reached) == (("add", {"0": 1}, {}), {"0": 1})
    rig.feed.turn(HERE)
    assert rig.feed.reached == {"0": 9}


@pytest.mark.parametrize("wanted", [{"0": 99}, {"0": -1}])
def test_no_message_is_left_out_by_such_a_request(wanted: dict[str, int]) -> None:
    rig = begun(plain={"0": 9})
    rig.feed.rewind(wanted)
    rig.feed.turn(HERE)
    assert 0 <= rig.feed.reached["0"] <= 5
