"""The messages of one table, from its last commit on: which batch is next, and who writes it."""

from functools import partial

from spark_jobs.events.declared_schema import schemas_of
from spark_jobs.hudi.appender import is_appendable
from spark_jobs.hudi.table import HudiTable
from spark_jobs.kafka.admin import Topic
from spark_jobs.kafka.messages import read_range
from spark_jobs.runtime.pipeline import Pipeline, Table, Target
from spark_jobs.streaming.application import Application
from spark_jobs.streaming.fed_query import FedQuery, named
from spark_jobs.streaming.feed import Offsets
from spark_jobs.streaming.managed_queries import ManagedQuery
from spark_jobs.streaming.table_writer import TableWriter

LARGE = 50_000  # messages: so many take a second of one core


def start(app: Application, pipeline: Pipeline, source: Table, target: Target, managed: ManagedQuery) -> "TableFeed":
    """The running feed, with a new writer; it continues where the last commit of the table ends."""
    app.leases.take(target.path)
    managed.retire()
    plain = pipeline.silver["appender"] and is_appendable(app.spark, source, target)
    table = HudiTable(app.spark, source, target, can_append=plain)
    tasks = str(app.spark.sparkContext.defaultParallelism)  # one Kafka partition is not one task
    read = partial(
        read_range, app.spark, pipeline.kafka, source.topic, is_json=source.is_json, options={"minPartitions": tasks}
    )
    may_write = partial(app.leases.check, target.path)
    quarantine = app.quarantines.of(pipeline, source.database)
    schemas = schemas_of(pipeline, source)
    managed.writer = TableWriter(table, schemas, quarantine, app.progress, read, may_write)
    app.progress.update(table.name, **table.position)  # a table that stays idle has a position too
    feed = TableFeed(app, managed.writer, source.freshness_s, pipeline.silver["max_offsets"])
    feed.begin()
    return feed


class TableFeed(FedQuery):
    """freshness_s: two commits begin half of it apart, at least. most: the messages of a batch of the general road."""

    def __init__(self, app: Application, writer: TableWriter, freshness_s: float, most: int) -> None:
        table = writer.table
        super().__init__(app, table.name, table.source.topic, table.can_append, freshness_s / 2, most)
        self._writer = writer
        self._table = table
        self._rewind: Offsets = {}
        self._has_executors = not app.spark.sparkContext.master.startswith("local")

    def is_due(self, now: float, end: Offsets) -> bool:
        """True if the next batch may begin."""
        return self._is_free(now) and (bool(self._rewind) or self.is_behind(end))

    def rewind(self, offsets: Offsets) -> None:
        """Reads the topic again from these offsets on, after the present batch. Rows carry their order, so the table
        stays as it is."""
        self._rewind = {part: max(0, int(offset)) for part, offset in offsets.items()}

    def _turn(self, topic: Topic) -> None:
        self._table.read_from(topic)
        if self._rewind:
            self._go_back()
        elif not self._append():
            self._in_thread(self._write)

    def _begin(self) -> None:
        self._table.read_from(self._topic())
        offsets = self._app.broker.offsets(self.topic)
        self._table.refuse_gap(offsets.begin)
        self.reached = {**named(offsets.begin), **self._table.reached["offsets"]}
        self._writer.prepare()
        self._app.loop.add(self, named(offsets.end))

    def _go_back(self) -> None:
        wanted, self._rewind = self._rewind, {}
        self.reached = {part: min(offset, wanted.get(part, offset)) for part, offset in self.reached.items()}
        self._app.loop.add(self, {})

    def _append(self) -> bool:
        """False if only the general road can write what has arrived, or executors do it sooner."""
        if not self._table.can_append or self._has_executors and self._app.loop.waiting(self) > LARGE:
            return False
        end = self._writer.append(self._app.loop.messages(self))
        if end:
            self._reach(end)
        return end is not None

    def _write(self) -> None:
        with self._app.slots.slot(self.name):
            end = self._batch_end()
            self._writer.write(self._writer.read_range(self.reached, end))
        self._table.read_from(self._app.broker.topic(self.topic))  # else the messages may be of another topic
        self._table.metastore.after_commit()
        self._app.progress.note(self.name, sync_failure=self._table.metastore.failure)
        self._writer.prepare()
        self._reach(end)
