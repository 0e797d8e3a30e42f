"""The messages of one table, from its last commit on: which batch is next, and who writes it."""

import threading
import time
from functools import partial
from typing import Any, Callable, Dict, Optional

from spark_jobs.events.declared_schema import schemas_of
from spark_jobs.hudi.appender import is_appendable
from spark_jobs.hudi.table import HudiTable
from spark_jobs.kafka.admin import Topic
from spark_jobs.kafka.messages import read_range
from spark_jobs.runtime.pipeline import Pipeline, Table, Target
from spark_jobs.streaming.application import Application
from spark_jobs.streaming.feed import Offsets
from spark_jobs.streaming.loop import Follower
from spark_jobs.streaming.managed_queries import ManagedQuery
from spark_jobs.streaming.table_writer import TableWriter


class NoTopic(Exception):
    """The topic of a table does not exist."""

    def __init__(self, topic: str) -> None:
        super().__init__("topic {} does not exist".format(topic))


def start(app: Application, pipeline: Pipeline, source: Table, target: Target, managed: ManagedQuery) -> "TableFeed":
    """The running feed, with a new writer; it continues where the last commit of the table ends."""
    app.leases.take(target.path)
    managed.retire()
    table = HudiTable(app.spark, source, target)
    tasks = str(app.spark.sparkContext.defaultParallelism)  # one Kafka partition is not one task
    read = partial(
        read_range, app.spark, pipeline.kafka, source.topic, is_json=source.is_json, options={"minPartitions": tasks}
    )
    may_write = partial(app.leases.check, target.path)
    quarantine = app.quarantines.of(pipeline, source.database)
    schemas, plain = (
        schemas_of(pipeline, source),
        pipeline.silver["appender"] and is_appendable(app.spark, source, target),
    )
    managed.writer = TableWriter(table, schemas, quarantine, app.progress, read, may_write, can_append=plain)
    app.progress.update(table.name, **table.position)  # a table that stays idle has a position too
    feed = TableFeed(app, managed.writer, source.freshness_s, pipeline.silver["max_offsets"])
    feed.begin()
    return feed


class TableFeed(Follower):
    """It answers like Spark's StreamingQuery, so that tables and archives are managed alike.

    freshness_s: two commits begin half of it apart, at least. most: the messages of a batch of the general road.
    """

    def __init__(self, app: Application, writer: TableWriter, freshness_s: float, most: int) -> None:
        super().__init__(writer.table.name, writer.table.source.topic, keeps=writer.can_append)
        self._app = app
        self._writer = writer
        self._table = writer.table
        self._between_s = freshness_s / 2
        self._most = most
        self._error: Optional[Exception] = None
        self._working = True  # until it has begun
        self._rewind: Offsets = {}

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
        """numInputRows: 0 if the table has all that has arrived."""
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
        may = not self.ended and not self._working and now >= self.next_at
        return may and (bool(self._rewind) or self.is_behind(end))

    def turn(self, topic: Topic) -> None:
        """Commits what has arrived: now if that is plain, else in a thread of its own. topic: as Kafka describes it."""
        self.next_at = time.monotonic() + self._between_s
        try:
            self._table.read_from(topic)
            if self._rewind:
                self._go_back()
            elif not self._append():
                self._in_thread(self._write)
        except Exception as error:  # py4j: only this table stops
            self.fail(error)

    def fail(self, error: Exception) -> None:
        """Stops, with a reason; ManagedQueries starts it again."""
        self._end(error)

    def rewind(self, offsets: Offsets) -> None:
        """Reads the topic again from these offsets on, after the present batch. Rows carry their order, so the table
        stays as it is."""
        self._rewind = {part: max(0, int(offset)) for part, offset in offsets.items()}

    # --- The batches.

    def _begin(self) -> None:
        topic = self._app.broker.topic(self.topic)
        if not topic.partitions:
            raise NoTopic(self.topic)
        self._table.read_from(topic)
        offsets = self._app.broker.offsets(self.topic)
        self._table.refuse_gap(offsets.begin)
        first = {str(part): offset for part, offset in offsets.begin.items()}
        self.reached = {**first, **self._table.reached["offsets"]}
        self._writer.prepare()
        self._app.loop.add(self, {str(part): offset for part, offset in offsets.end.items()})

    def _go_back(self) -> None:
        wanted, self._rewind = self._rewind, {}
        self.reached = {part: min(offset, wanted.get(part, offset)) for part, offset in self.reached.items()}
        self._app.loop.add(self, {})

    def _append(self) -> bool:
        """False if only the general road can write what has arrived."""
        if not self._writer.can_append:
            return False
        end = self._writer.append(self._app.loop.messages(self))
        if end:
            self._reach(end)
        return end is not None

    def _write(self) -> None:
        with self._app.slots.slot(self.name):
            end = self._batch_end(self._app.broker.ends(self.topic))
            self._writer.write(self._writer.read_range(self.reached, end))
        self._table.read_from(self._app.broker.topic(self.topic))  # else the messages may be of another topic
        self._table.metastore.after_commit()
        self._app.progress.note(self.name, sync_failure=self._table.metastore.failure)
        self._writer.prepare()
        self._reach(end)

    def _batch_end(self, ends: Dict[int, int]) -> Offsets:
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
