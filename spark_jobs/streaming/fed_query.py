"""A follower that answers like Spark's StreamingQuery, so that tables and archives are managed alike."""

import threading
import time
from typing import Any, Callable, Dict, Optional

from spark_jobs.kafka.admin import Topic
from spark_jobs.streaming.application import Application
from spark_jobs.streaming.feed import Offsets
from spark_jobs.streaming.loop import Follower


class NoTopic(Exception):
    """The topic of a table does not exist."""

    def __init__(self, topic: str) -> None:
        super().__init__("topic {} does not exist".format(topic))


class FedQuery(Follower):
    """What the feeds of tables and of archives have in common.

    between_s: two turns begin so far apart, at least. most: the messages of a batch of the general road.
    """

    def __init__(self, app: Application, name: str, topic: str, keeps: bool, between_s: float, most: int) -> None:
        super().__init__(name, topic, keeps)
        self._app = app
        self._between_s = between_s
        self._most = most
        self._error: Optional[Exception] = None
        self._working = True  # until it has begun

    # --- What a StreamingQuery answers.

    @property
    def isActive(self) -> bool:  # noqa: N802
        """False after it failed or was stopped, once its last batch has ended."""
        return self._working or not self.ended

    def exception(self) -> Optional[Exception]:
        """Why it failed."""
        return self._error

    @property
    def lastProgress(self) -> Optional[Dict[str, Any]]:  # noqa: N802
        """numInputRows: 0 if it has all that has arrived."""
        if not self.reached:
            return None
        waiting = self._working or self._app.loop.is_behind(self)
        return {"numInputRows": int(waiting), "sources": [{"endOffset": {self.topic: self.reached}}]}

    def stop(self) -> None:
        """Begins no more batch, and cancels the Spark jobs of the present one."""
        self._end(None)
        self._app.spark.sparkContext.cancelJobGroup(self.name)

    # --- What the loop calls.

    def begin(self) -> None:
        """In a thread of its own: a Kafka that does not answer must not delay the other tables."""
        self._in_thread(self._begin)

    def is_due(self, now: float, end: Offsets) -> bool:
        """True if the next batch may begin."""
        return self._is_free(now) and self.is_behind(end)

    def turn(self, topic: Topic) -> None:
        """Writes what has arrived: now if that is plain, else in a thread of its own. topic: as Kafka describes it."""
        self.next_at = time.monotonic() + self._between_s
        try:
            self._turn(topic)
        except Exception as error:  # py4j: only this one stops
            self.fail(error)

    def fail(self, error: Exception) -> None:
        """Stops, with a reason; ManagedQueries starts it again."""
        self._end(error)

    # --- What each of the two kinds does.

    def _begin(self) -> None:
        """Finds out where it goes on, and joins the loop."""
        raise NotImplementedError

    def _turn(self, topic: Topic) -> None:
        raise NotImplementedError

    # --- What they have for it.

    def _is_free(self, now: float) -> bool:
        return not self.ended and not self._working and now >= self.next_at

    def _topic(self) -> Topic:
        """The topic as Kafka describes it. Raises NoTopic."""
        topic = self._app.broker.topic(self.topic)
        if not topic.partitions:
            raise NoTopic(self.topic)
        return topic

    def _batch_end(self) -> Offsets:
        """Where a batch of the general road ends."""
        ends = self._app.broker.ends(self.topic)
        share = max(1, self._most // max(1, len(ends)))
        return {str(part): min(end, self.reached.get(str(part), 0) + share) for part, end in ends.items()}

    def _reach(self, offsets: Offsets) -> None:
        self.reached = {**self.reached, **offsets}
        self._app.loop.advanced(self)

    def _in_thread(self, work: Callable[[], None]) -> None:
        self._working = True
        threading.Thread(target=self._guarded, args=(work,), daemon=True, name=self.name).start()

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            self._app.spark.sparkContext.setJobGroup(self.name, self.name)
            work()
        except Exception as error:  # py4j, whatever it is
            self.fail(error)
        finally:
            self._working = False

    def _end(self, error: Optional[Exception]) -> None:
        if not self.ended:
            self.ended, self._error = True, error
            self._app.loop.remove(self)


def named(offsets: Dict[int, int]) -> Offsets:
    """Offsets by the number of their partition as text."""
    return {str(partition): offset for partition, offset in offsets.items()}
