"""One loop for all tables: it knows what has arrived, and which table may commit.

A table commits as soon as there are messages for it, but at the earliest half of its freshness after its last commit
began. A plain batch is committed in the thread of the loop; every other batch in a thread of its own, which waits for a
commit slot. An idle table costs nothing.
"""

import logging
import threading
import time
from typing import Any, Dict, List, Set

from spark_jobs.kafka.admin import Broker, Topic
from spark_jobs.runtime.errors import root_cause
from spark_jobs.streaming.feed import Arrivals, Feed, Offsets

LOG = logging.getLogger("loop")
IDLE_S = 0.2
PAUSE_S = 1.0  # after an error that concerns all tables


class Follower:
    """A table that follows a topic.

    reached: the next offset of each partition; next_at: when it may commit again; ended: True once it may not; keeps:
    True if it takes the messages themselves
    """

    def __init__(self, name: str, topic: str, keeps: bool) -> None:
        self.name = name
        self.topic = topic
        self.keeps = keeps
        self.reached: Offsets = {}
        self.next_at = 0.0
        self.ended = False

    def is_due(self, now: float, end: Offsets) -> bool:
        """True if the next batch may begin. end: how far the topic was read."""
        raise NotImplementedError

    def turn(self, topic: Topic) -> None:
        """Commits what has arrived, or begins to. topic: as Kafka describes it now."""
        raise NotImplementedError

    def fail(self, error: Exception) -> None:
        """Stops with a reason."""
        raise NotImplementedError

    def is_behind(self, end: Offsets) -> bool:
        """True if the topic was read further than the table."""
        return any(self.reached.get(part, 0) < offset for part, offset in end.items())


class Loop:
    """The tables that are read now."""

    def __init__(self, feed: Feed, broker: Broker) -> None:
        self._feed = feed
        self._broker = broker
        self._lock = threading.Lock()
        self._tables: Dict[str, Follower] = {}
        self._ends: Dict[str, Offsets] = {}

    def add(self, table: Follower, end: Offsets) -> None:
        """Reads the topic of a table from where the table is; ignores a table that has ended meanwhile.

        end: how far the topic goes now.
        """
        with self._lock:
            if not table.ended:
                self._tables[table.name] = table
                self._ends[table.topic] = _furthest(self._end(table.topic), end)
                self._follow(table.topic)

    def remove(self, table: Follower) -> None:
        """The table gets no more messages. What was kept for it alone is forgotten."""
        with self._lock:
            if self._tables.get(table.name) is table:
                del self._tables[table.name]
                if self._of_topic(table.topic):
                    self._feed.skip(table.topic, self._begin(table.topic))
                else:
                    self._feed.leave(table.topic)
                    self._ends.pop(table.topic, None)

    def advanced(self, table: Follower) -> None:
        """Forgets the messages that all tables of the topic have."""
        with self._lock:
            if self._of_topic(table.topic):
                self._feed.skip(table.topic, self._begin(table.topic))

    def is_behind(self, table: Follower) -> bool:
        """True if the topic was read further than the table."""
        return table.is_behind(self._end(table.topic))

    def waiting(self, table: Follower) -> int:
        """How many messages the topic was read further than the table."""
        return sum(max(0, offset - table.reached.get(part, 0)) for part, offset in self._end(table.topic).items())

    def is_any_behind(self) -> bool:
        """True if some table has something to do."""
        return any(self.is_behind(table) for table in self._all())

    def messages(self, table: Follower) -> Any:
        """The messages that are here, from the offset on that the table has reached."""
        return self._feed.messages(table.topic, table.reached)

    def round(self) -> None:
        """Waits for messages, and gives each table that may commit its turn. Only one thread calls it."""
        try:
            self._note(self._feed.poll(self._wait_s()))
            due = self._due()
            topics = self._described({table.topic for table in due})
            for table in due:
                self._turn(table, topics)
        except Exception as error:  # py4j: Kafka refuses, or whatever it is
            LOG.error("the loop failed: %s", root_cause(error))
            for table in self._all():
                table.fail(error)
            time.sleep(PAUSE_S)

    def _due(self) -> List[Follower]:
        now = time.monotonic()
        return [table for table in self._all() if table.is_due(now, self._end(table.topic))]

    def _described(self, names: Set[str]) -> Dict[str, Topic]:
        """The topics after their messages were read, so they are those that the messages come from."""
        try:
            return self._broker.topics(names) if names else {}
        except Exception as error:  # py4j: one of them is refused, so each is asked for
            LOG.warning("Kafka does not describe all of %s: %s", ", ".join(sorted(names)), root_cause(error))
            return {}

    def _turn(self, table: Follower, topics: Dict[str, Topic]) -> None:
        try:
            topic = topics.get(table.topic) or self._broker.topic(table.topic)
        except Exception as error:  # py4j: only this table stops
            table.fail(error)
        else:
            table.turn(topic)

    def _wait_s(self) -> float:
        """Until the next table may commit: it may have messages that came too early."""
        now = time.monotonic()
        soon = [table.next_at - now for table in self._all() if table.next_at > now and self.is_behind(table)]
        return min([IDLE_S, *soon])

    def _note(self, arrivals: Arrivals) -> None:
        with self._lock:
            for topic, ends in arrivals.ends.items():
                if self._of_topic(topic):
                    self._ends[topic] = _furthest(self._end(topic), ends)
            failed = [(table, reason) for topic, reason in arrivals.failures.items() for table in self._of_topic(topic)]
        for table, reason in failed:
            table.fail(OSError(reason))

    def _follow(self, topic: str) -> None:
        keeping = any(table.keeps for table in self._of_topic(topic))
        self._feed.follow(topic, self._begin(topic) if keeping else self._ends[topic], keeping)

    def _end(self, topic: str) -> Offsets:
        """How far the topic goes, as far as it is known."""
        return self._ends.get(topic, {})

    def _begin(self, topic: str) -> Offsets:
        """From where on somebody needs the messages."""
        followers = self._of_topic(topic)
        positions = [one.reached for one in followers if one.keeps] or [one.reached for one in followers]
        return {part: min(one.get(part, 0) for one in positions) for part in positions[0]}

    def _all(self) -> List[Follower]:
        with self._lock:
            return list(self._tables.values())

    def _of_topic(self, topic: str) -> List[Follower]:
        return [table for table in self._tables.values() if table.topic == topic]


def _furthest(known: Offsets, new: Offsets) -> Offsets:
    return {part: max(known.get(part, 0), new.get(part, 0)) for part in {*known, *new}}
