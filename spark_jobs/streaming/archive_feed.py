"""The messages of one topic, from its archive's last file on: when they are archived, and by whom."""

import time
from functools import partial
from typing import Any

from spark_jobs.archive.datum_files import NEVER, DatumFiles
from spark_jobs.archive.writer import BronzeTopic, shown_as
from spark_jobs.events.declared_schema import schemas_of
from spark_jobs.hudi.appender import NotPlain
from spark_jobs.kafka.admin import Topic
from spark_jobs.kafka.messages import read_range
from spark_jobs.runtime.pipeline import Pipeline, Table
from spark_jobs.streaming.application import Application
from spark_jobs.streaming.fed_query import FedQuery, named
from spark_jobs.streaming.feed import Offsets
from spark_jobs.streaming.managed_queries import ManagedQuery
from spark_jobs.streaming.table_writer import ReadRange

TAKE_S = 5.0  # a turn of few messages costs as much as one of many
MANY = 5000  # messages that do not wait: the feed has to keep them, and its memory is for all topics


def start(app: Application, pipeline: Pipeline, table: Table, _: ManagedQuery) -> "ArchiveFeed":
    """The running feed of one topic's archive."""
    bronze, topic = pipeline.bronze, table.topic
    shown = shown_as(app.spark, pipeline, table)
    ask, schemas = partial(app.broker.topic, topic), schemas_of(pipeline, table)
    archive = BronzeTopic(app.spark, table, bronze["path"], schemas, bronze["max_records"], ask, shown)
    read = partial(read_range, app.spark, pipeline.kafka, topic, is_json=table.is_json)
    feed = ArchiveFeed(app, archive, read, bronze["trigger_s"], pipeline.silver["max_offsets"])
    feed.begin()
    return feed


class ArchiveFeed(FedQuery):
    """A message waits until it is in a full file, or for trigger_s.

    It keeps its messages only if they become files as they are (datum_files.py).
    """

    def __init__(self, app: Application, archive: BronzeTopic, read: ReadRange, trigger_s: float, most: int) -> None:
        super().__init__(app, archive.name, archive.topic, archive.takes_datums, min(TAKE_S, trigger_s), most)
        self._archive = archive
        self._read = read
        self._trigger_s = trigger_s
        self._waiting_since = NEVER
        self._files = DatumFiles(app.spark, archive.table, archive.registry, archive.file_records, self._save)

    def is_behind(self, end: Offsets) -> bool:
        """True if there is something to do. An archive that does not keep its messages waits for enough of them."""
        if not super().is_behind(end):
            self._waiting_since = NEVER
            return False
        self._waiting_since = min(self._waiting_since, time.monotonic())
        is_late = time.monotonic() >= self._waiting_since + self._trigger_s
        return self.keeps or is_late or self._number(end) >= self._archive.file_records

    def is_due(self, now: float, end: Offsets) -> bool:
        """True if messages have come, or if a file has waited long enough for more of them."""
        if not self._is_free(now if self._number(end) < MANY else NEVER):
            return False
        return self.is_behind(end) or now >= self._files.oldest() + self._trigger_s

    def _number(self, end: Offsets) -> int:
        return sum(max(0, offset - self.reached.get(part, 0)) for part, offset in end.items())

    def _begin(self) -> None:
        topic = self._topic()
        with self._app.archives.turn():
            reached = self._archive.resume()
        offsets = self._app.broker.offsets(self.topic)
        self._archive.accept(topic)
        self._archive.refuse_gap(offsets.begin)
        self.reached = {**named(offsets.begin), **named(reached)}
        while self._number(named(offsets.end)) > self._most:  # the feed would keep it all, and the tables would wait
            self._write()
        self._app.loop.add(self, named(offsets.end))

    def _turn(self, topic: Topic) -> None:
        self._archive.accept(topic)
        if not self.keeps:
            self._in_thread(self._write)
            return
        try:
            self._reach(self._files.take(self._app.loop.messages(self)))
            self._files.save_begun_by(time.monotonic() - self._trigger_s)
        except NotPlain:
            self._files.save_begun_by(NEVER)
            self.reached = {**self.reached, **named(self._archive.reached)}
            self._app.loop.remove(self)  # the feed would keep what comes meanwhile
            self._in_thread(self._write_apart)

    def _write_apart(self) -> None:
        self._write()
        self._app.loop.add(self, {})

    def _write(self) -> None:
        """A batch by Spark."""
        with self._app.archives.turn():
            end = self._batch_end()
            self._archive.write(self._read(self.reached, end), self._app.progress)
        self._reach(end)

    def _save(self, partition: int, made: Any) -> None:
        self._archive.publish(partition, made, self._app.progress)
