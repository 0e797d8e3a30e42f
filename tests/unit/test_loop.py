"""The loop over all tables: which of them may commit, and what the feed keeps for them."""

from typing import Any

import pytest

from spark_jobs.kafka.admin import Topic
from spark_jobs.streaming.feed import Arrivals, Offsets
from spark_jobs.streaming.loop import Follower, Loop

HERE = Topic("id", 1)


class Feed:
    """Gives what a test puts in, one poll after the other."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.next: list[Arrivals | Exception] = []

    def follow(self, topic: str, begin: Offsets, keeps: bool) -> None:
        self.calls.append(("follow", topic, begin, keeps))

    def leave(self, topic: str) -> None:
        self.calls.append(("leave", topic))

    def skip(self, topic: str, before: Offsets) -> None:
        self.calls.append(("skip", topic, before))

    def poll(self, seconds: float) -> Arrivals:
        found = self.next.pop(0)
        if isinstance(found, Exception):
            raise found
        return found


class Broker:
    """refused: the topics that it does not describe."""

    def __init__(self) -> None:
        self.refused: set[str] = set()

    def topics(self, names: set[str]) -> dict[str, Topic]:
        if names & self.refused:
            raise OSError("refused")
        return dict.fromkeys(names, HERE)

    def topic(self, name: str) -> Topic:
        return self.topics({name})[name]


class Table(Follower):
    """Commits all that has arrived as soon as it may."""

    def __init__(self, name: str, topic: str, reached: Offsets, keeps: bool = True) -> None:
        super().__init__(name, topic, keeps)
        self.reached = reached
        self.turns = 0
        self.error: Exception | None = None
        self.free = True

    def is_due(self, now: float, end: Offsets) -> bool:
        self.end = end
        return self.free and self.is_behind(end)

    def turn(self, topic: Topic) -> None:
        assert topic == HERE
        self.turns, self.reached = self.turns + 1, dict(self.end)

    def fail(self, error: Exception) -> None:
        self.error = error


@pytest.fixture
def feed() -> Feed:
    return Feed()


@pytest.fixture
def broker() -> Broker:
    return Broker()


@pytest.fixture
def loop(feed: Feed, broker: Broker, monkeypatch: pytest.MonkeyPatch) -> Loop:
    monkeypatch.setattr("spark_jobs.streaming.loop.PAUSE_S", 0)
    the_feed: Any = feed
    the_broker: Any = broker
    return Loop(the_feed, the_broker)


def run(loop: Loop, feed: Feed, *arrivals: Arrivals | Exception) -> None:
    feed.next.extend(arrivals)
    for _ in arrivals:
        loop.round()


def test_only_a_table_with_messages_has_a_turn(loop: Loop, feed: Feed) -> None:
    busy, idle = Table("lab_mor.a", "lab.a", {"0": 5}), Table("lab_mor.b", "lab.b", {"0": 7})
    loop.add(busy, {"0": 5})
    loop.add(idle, {"0": 7})
    run(loop, feed, Arrivals({"lab.a": {"0": 6}}, {}), Arrivals({"lab.a": {"0": 9}}, {}))
    assert (busy.turns, busy.reached, idle.turns) == (2, {"0": 9}, 0)


def test_a_backlog_of_before_the_start_is_work(loop: Loop, feed: Feed) -> None:
    table = Table("lab_mor.a", "lab.a", {"0": 5})
    loop.add(table, {"0": 8})
    assert loop.is_behind(table)
    run(loop, feed, Arrivals({}, {}))
    assert table.reached == {"0": 8} and not loop.is_behind(table)


def test_the_feed_keeps_what_one_table_of_a_topic_needs(loop: Loop, feed: Feed) -> None:
    first, second = Table("lab_cow.a", "lab.a", {"0": 3}), Table("lab_mor.a", "lab.a", {"0": 5})
    loop.add(second, {"0": 5})
    loop.add(first, {"0": 5})
    second.reached = {"0": 9}
    loop.advanced(second)
    loop.remove(first)
    loop.advanced(second)
    loop.remove(second)
    assert feed.calls == [
        ("follow", "lab.a", {"0": 5}, True),
        ("follow", "lab.a", {"0": 3}, True),
        ("skip", "lab.a", {"0": 3}),
        ("skip", "lab.a", {"0": 9}),
        ("skip", "lab.a", {"0": 9}),
        ("leave", "lab.a"),
    ]


def test_a_topic_whose_messages_nobody_takes_is_followed_from_its_end_on(loop: Loop, feed: Feed) -> None:
    table = Table("lab_cow.a", "lab.a", {"0": 3}, keeps=False)
    loop.add(table, {"0": 7})
    assert feed.calls == [("follow", "lab.a", {"0": 7}, False)]
    assert loop.is_behind(table) and loop.is_any_behind()


def test_a_table_that_reads_again_does_not_hide_how_far_the_topic_goes(loop: Loop, feed: Feed) -> None:
    """Else the other table of the topic would not be behind, and would keep the buffer full for ever."""
    lazy, other = Table("lab_mor.a", "lab.a", {"0": 3}), Table("lab_cow.a", "lab.a", {"0": 50})
    lazy.free = False
    loop.add(other, {"0": 60})
    loop.add(lazy, {"0": 60})
    run(loop, feed, Arrivals({"lab.a": {"0": 9}}, {}))
    assert other.reached == {"0": 60}


def test_a_table_that_ended_before_it_was_added_is_no_follower(loop: Loop, feed: Feed) -> None:
    former, present = Table("lab_mor.a", "lab.a", {"0": 5}), Table("lab_mor.a", "lab.a", {"0": 5})
    loop.add(present, {"0": 5})
    former.ended = True
    loop.add(former, {"0": 5})
    run(loop, feed, Arrivals({"lab.a": {"0": 6}}, {}))
    assert (former.turns, present.turns) == (0, 1)


def test_a_topic_that_is_not_described_stops_its_tables_only(loop: Loop, feed: Feed, broker: Broker) -> None:
    refused, well = Table("lab_mor.a", "lab.a", {"0": 5}), Table("lab_mor.b", "lab.b", {"0": 7})
    loop.add(refused, {"0": 6})
    loop.add(well, {"0": 8})
    broker.refused = {"lab.a"}
    run(loop, feed, Arrivals({}, {}))
    assert (str(refused.error), refused.turns, well.error, well.turns) == ("refused", 0, None, 1)


def test_a_topic_that_cannot_be_read_stops_its_tables_only(loop: Loop, feed: Feed) -> None:
    lost, well = Table("lab_mor.a", "lab.a", {"0": 5}), Table("lab_mor.b", "lab.b", {"0": 7})
    loop.add(lost, {"0": 5})
    loop.add(well, {"0": 7})
    run(loop, feed, Arrivals({}, {"lab.a": "deleted"}), Arrivals({"lab.b": {"0": 8}}, {}))
    assert str(lost.error) == "deleted"
    assert (well.error, well.turns) == (None, 1)


def test_a_kafka_that_refuses_stops_every_table_with_the_reason(loop: Loop, feed: Feed) -> None:
    table = Table("lab_mor.a", "lab.a", {"0": 5})
    loop.add(table, {"0": 5})
    run(loop, feed, OSError("no login"))
    assert str(table.error) == "no login"


def test_a_table_that_was_started_again_is_not_taken_out(loop: Loop, feed: Feed) -> None:
    former, present = Table("lab_mor.a", "lab.a", {"0": 5}), Table("lab_mor.a", "lab.a", {"0": 5})
    loop.add(former, {"0": 5})
    loop.add(present, {"0": 5})
    loop.remove(former)
    run(loop, feed, Arrivals({"lab.a": {"0": 6}}, {}))
    assert (former.turns, present.turns) == (0, 1)
