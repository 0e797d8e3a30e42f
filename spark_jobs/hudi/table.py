"""One Hudi table: commits of rows with the source position in them."""

import logging
import threading
import time
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from spark_jobs.events.batch import Batch
from spark_jobs.events.decode_and_fit import Stored
from spark_jobs.events.fencing import Generations
from spark_jobs.hudi import source_offsets, timeline
from spark_jobs.hudi.appender import Appender, NotPlain
from spark_jobs.hudi.hive_sync import MetastoreSync
from spark_jobs.hudi.record_keys import with_own_keys
from spark_jobs.hudi.service_schedule import ServiceSchedule, Unserved
from spark_jobs.hudi.write_client import roll_back
from spark_jobs.kafka.admin import Topic
from spark_jobs.runtime.errors import root_cause
from spark_jobs.runtime.pipeline import Table, Target

LOG = logging.getLogger("table")
META_COLUMNS = 5  # _hoodie_commit_time, _commit_seqno, _record_key, _partition_path, _file_name
# Hudi's own way of seeing to one row per key shuffles whole records.
ONE_ROW_PER_KEY = dict.fromkeys(("hoodie.combine.before.upsert", "hoodie.combine.before.insert"), "false")
FIRST_COMMIT = {
    # It makes base files, so that the read-optimised table is not empty until compaction.
    "hoodie.datasource.write.operation": "bulk_insert",
    # Hudi 0.14's row writer names the levels of a list unlike its Avro writer, which merges later: every array of a row
    # that is then copied unchanged would become null.
    "hoodie.datasource.write.row.writer.enable": "false",
}
# By path: a table service that was started for an earlier HudiTable of the same path may still run.
_LOCKS: Dict[str, threading.Lock] = {}


class Commit(NamedTuple):
    """position: its entries; committed_ms: quantiles of its changes' commit times; at: epoch seconds."""

    position: Dict[str, Any]
    committed_ms: List[int]
    at: float


class Busy(Exception):
    """Another thread has the table for a moment; nothing was written."""


class HudiTable:
    """The state of one Hudi table between commits. All of it can be read from the commits again.

    source: the table in the source. can_append: plain batches may be committed below Hudi's writer (appender.py).
    Raises timeline.ClockBehind.
    """

    def __init__(self, spark: SparkSession, source: Table, target: Target, can_append: bool = False) -> None:
        self.source = source
        self.can_append = can_append
        self.target = target = with_own_keys(spark, target)
        self.path = target.path
        self.name = target_name(source, target)
        # Held while a commit is made, and by the table services while they plan (spark_jobs/hudi/table_services.py).
        self.lock = _LOCKS.setdefault(target.path, threading.Lock())
        self.spark = spark
        line = timeline.timeline(spark, target.path)
        timeline.refuse_clock(spark, line, target.path)
        self.position = timeline.last_position(line)  # of the source, in the last commit; empty before the first one
        self._broken_off = timeline.unfinished(line)
        self._topic_id: Optional[str] = self.reached.get("topic_id")
        self._columns = stored_columns(spark, target.path, self.position)
        self._appender: Optional[Appender] = None
        commits, size = timeline.since_service(spark, line, target.type), self.position.get("bytes_since_service", 0)
        committed_at = time.time() if self.position else 0.0
        self.schedule = ServiceSchedule(target.type, bool(source.partition), Unserved(commits, size), committed_at)
        self.metastore = MetastoreSync(spark, target, self.name, has_commits=bool(self.position))

    @property
    def reached(self) -> Dict[str, Any]:
        """The position of the table in this epoch of the topic."""
        return source_offsets.reached(self.position, self.source.epoch)

    @property
    def stored(self) -> Stored:
        """The table as its last commit left it."""
        return Stored(self.name, self._columns, self.position)

    def read(self) -> DataFrame:
        """The stored rows, with Hudi's own columns."""
        return self.spark.read.format("hudi").load(self.path)

    def read_from(self, topic: Topic) -> None:
        """Sets the topic of the next batches. Raises source_offsets.TopicChanged."""
        source_offsets.refuse_changed(self.position, self.source, topic)
        self._topic_id = topic.id or self._topic_id

    def refuse_gap(self, begin: Dict[int, int]) -> None:
        """Raises source_offsets.TopicChanged; begin: by partition, the first offset that the topic has."""
        source_offsets.refuse_gap(self.position, self.source, begin)

    def position_after(self, batch: Batch, current: Batch, generations: Generations) -> Dict[str, Any]:
        """The position of the commit of a batch. current: the batch without stale generations."""
        return source_offsets.following(self.position, self.source, self._topic_id, current, batch, generations)

    def commit(
        self, rows: DataFrame, position: Dict[str, Any], size: int, committed_ms: List[int], many: bool = False
    ) -> Commit:
        """One commit of the rows, with the position in it. size: the bytes of the values behind the rows.

        many: there are so many rows that all executors shall append them, if the table is plain.
        """
        entries = dict(position, bytes_since_service=self.schedule.unserved.size + size)
        with self.lock:
            if not (many and self._append_in_stage(rows, entries)):
                self._save(rows, entries)
        self.schedule.committed(size, has_rows=True)
        if self.source.partition:
            self.metastore.note_change()
        return Commit(entries, committed_ms, time.time())

    def append(self, rows: Any, position: Dict[str, Any], size: int, committed_ms: List[int]) -> Commit:
        """Like commit(), but without a Spark job. rows: a Java iterator of InternalRow, one row per key.

        Raises NotPlain where only commit() can write them, and Busy where a table service is planning.
        """
        entries = dict(position, bytes_since_service=self.schedule.unserved.size + size)
        with _at_once(self.lock):
            if self._broken_off:
                raise NotPlain("a commit was broken off, which is rolled back first")
            self._append(rows, entries)
        self.schedule.committed(size, has_rows=True)
        return Commit(entries, committed_ms, time.time())

    def commit_offsets(self, offsets: Dict[str, int]) -> Optional[Commit]:
        """A commit without rows, for a batch that ended with messages that were set aside.

        Without it these messages would look unread. A table without rows gets no such commit.
        """
        held = self.reached["offsets"]
        ends = {**held, **{key: max(offset, held.get(key, 0)) for key, offset in offsets.items()}}
        if not self._columns.fields or ends == held:
            return None
        entries = source_offsets.without_messages({**self.position, "offsets": ends})
        with self.lock:
            self._save(self.spark.createDataFrame([], self._columns), entries)
        self.schedule.committed(0, has_rows=False)
        return Commit(entries, [], time.time())

    def commit_without_messages(self, rows: Callable[[], DataFrame]) -> None:
        """Commits rows that do not come from messages, at the position of the last commit.

        rows: makes the rows from the stored ones; called when no other commit can happen in between.
        """
        with self.lock:
            last = timeline.last_position(timeline.timeline(self.spark, self.path))
            self._save(rows(), source_offsets.without_messages(last))
        self.schedule.committed(0, has_rows=True)

    def _append(self, rows: Any, entries: Dict[str, Any]) -> None:
        if self._appender is None or self._appender.columns != self._columns:
            self._appender = Appender(self.spark, self.target, self._columns)
        self._broken_off = True
        try:
            self._appender.commit(rows, timeline.metadata_options(entries))
        except NotPlain:
            # Nothing of this commit. It may be refused because of one that another job has left, or that S3 had late.
            self._broken_off = timeline.unfinished(timeline.timeline(self.spark, self.path))
            raise
        self._broken_off = False
        self.position = entries

    def _append_in_stage(self, rows: DataFrame, entries: Dict[str, Any]) -> bool:
        """False if Hudi's own writer has to commit the rows; what was begun is then rolled back first."""
        if not self.can_append or self._broken_off or rows.dtypes != _types(self._columns):
            return False
        try:
            self._append(rows, entries)
        except NotPlain as reason:
            LOG.debug("%s: not plain: %s", self.name, reason)
            return False
        except Exception as error:  # py4j: Hudi's own writer meets it again
            LOG.warning("%s: left to Hudi's own writer: %s", self.name, root_cause(error))
            return False
        return True

    def _save(self, rows: DataFrame, entries: Dict[str, Any]) -> None:
        if self._broken_off and self._columns.fields:
            roll_back(self.spark, self.target)
        self._broken_off = True
        options = {**self.target.options, **timeline.metadata_options(entries), **ONE_ROW_PER_KEY}
        if not self._columns.fields:
            timeline.clear_unborn(self.spark, self.path)
            options.update(FIRST_COMMIT)
        rows.write.format("hudi").options(**options).mode("append").save(self.path)
        self._broken_off = False
        if dict(rows.dtypes) != dict(_types(self._columns)):
            self.metastore.note_change()
        self._columns = StructType(list(rows.schema))
        self.position = entries


@contextmanager
def _at_once(lock: threading.Lock) -> Iterator[None]:
    """Holds the lock. Raises Busy if another thread has it."""
    if not lock.acquire(blocking=False):
        raise Busy()
    try:
        yield
    finally:
        lock.release()


def _types(columns: StructType) -> List[Tuple[str, str]]:
    return [(field.name, field.dataType.simpleString()) for field in columns]


def target_name(source: Table, target: Target) -> str:
    """The name of a Hudi table, "moma_mor.artists", whatever the catalog calls it."""
    return "{}_{}.{}".format(source.database, target.type, source.stored_as)


def stored_columns(spark: SparkSession, path: str, entries: Dict[str, Any]) -> StructType:
    """The columns of the stored table without Hudi's own; no fields when no commit has entries yet."""
    if not entries:
        return StructType([])
    schema = spark.read.format("hudi").load(path).schema
    return StructType(schema.fields[META_COLUMNS:])
