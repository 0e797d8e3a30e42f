"""Silver: the Hudi tables; each batch of messages becomes one commit with the source position in it."""

import logging
import threading
import time
from contextlib import closing, suppress
from typing import Any, Callable, Dict, List, Optional, Tuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from spark_jobs.events import decode, fencing, flatten, schema_evolution, toast, validate
from spark_jobs.events.toast_from_table import Fill
from spark_jobs.hudi import hive_sync, source_offsets, timeline
from spark_jobs.hudi.write_client import write_client
from spark_jobs.kafka.admin import Topic
from spark_jobs.kafka.messages import schema_id
from spark_jobs.kafka.schema_registry import Registry
from spark_jobs.runtime.errors import cause
from spark_jobs.runtime.pipeline import Table, Target
from spark_jobs.runtime.status import Progress

LOG = logging.getLogger("silver")
SMALL_BATCH = 5000  # messages that one task handles sooner than two can share them
META_COLUMNS = 5  # _hoodie_commit_time, _commit_seqno, _record_key, _partition_path, _file_name
# By path: a table that begins anew may still meet a service of its former life.
_LOCKS: Dict[str, threading.Lock] = {}


class Oversized(Exception):
    """A batch has more bytes than it may. Nothing of it was written."""


class SilverTable:
    """One Hudi table and what is known of it between batches. Safe to throw away: commits hold the truth.

    Raises commits.ClockBehind.
    """

    def __init__(self, spark: SparkSession, table: Table, target: Target, registry: Registry) -> None:
        self.table = table
        self.target = target
        self.name = "{}.{}".format(target.options["hoodie.datasource.hive_sync.database"], table.table)
        # Held while a commit is made, and by the table services while they plan (spark_jobs/hudi/table_services.py).
        self.lock = _LOCKS.setdefault(target.path, threading.Lock())
        self._spark = spark
        self._registry = registry
        self._schemas: decode.Schemas = {}
        self._decoders: Dict[int, decode.Decoder] = {}
        line = timeline.timeline(spark, target.path)
        timeline.refuse_clock(spark, line, target.path)
        self._position = timeline.last_position(line)
        self._broken_off = timeline.unfinished(line)
        self.commits_since_service = timeline.since_service(spark, line, target.type)
        self.bytes_since_service = self._position.get("bytes_since_service", 0)
        self._topic_id: Optional[str] = self._reached().get("topic_id")
        self._columns = stored_columns(spark, target.path, self._position)
        self._sync_lock = threading.Lock()
        self._sync_due = bool(self._position)  # a crash may have come between the last commit and its sync
        self._changed = False  # what the metastore knows is old for certain
        self.sync_failure = ""  # why the metastore does not know of the last commit
        self.committed_at = time.time() if self._position else 0.0
        self.counted_at = 0.0
        self.service_due_at = 0.0
        self.service_failures = 0  # in a row

    @property
    def position(self) -> Dict[str, Any]:
        """What the last commit says of its source; empty before the first."""
        return dict(self._position)

    @property
    def offsets(self) -> Dict[str, int]:
        """By partition, the offset behind the last message that is committed."""
        return dict(self._reached()["offsets"])

    def read_from(self, topic: Topic) -> None:
        """The next batches are of this topic; raises source_position.TopicChanged."""
        source_offsets.refuse_changed(self._position, self.table, topic)
        self._topic_id = topic.id or self._topic_id

    def refuse_gap(self, begin: Dict[int, int]) -> None:
        """Raises source_position.TopicChanged; begin: by partition, the first offset that the topic has."""
        source_offsets.refuse_gap(self._position, self.table, begin)

    def write(
        self,
        messages: DataFrame,
        progress: Progress,
        again: bool = False,
        behind: Optional[DataFrame] = None,
        limit: Optional[int] = None,
    ) -> None:
        """Commits one batch. The same batch again changes nothing: rows carry their order.

        again: single messages from out of the quarantine, which say nothing of how far the table is.
        behind: later messages that are to be applied with it; the position of the commit is the batch's.
        limit: raises Oversized when the values are more bytes.
        """
        messages = values_of(messages)
        read = self._summary(messages)
        size = sum(row["bytes"] for row in read)
        if limit is not None and size > limit:
            raise Oversized("{}: a batch of {} bytes".format(self.name, size))
        runs = self._reached()["runs"] if again else self._runs(messages, read)
        messages, summary = self._left(messages, read, runs)
        if not summary:
            self.pass_over(source_offsets.next_offsets(read), progress)
            return
        entries = source_offsets.following(self._position, self.table, self._topic_id, summary, read, runs)
        entries.update(self._reached() if again else {})
        entries["bytes_since_service"] = self.bytes_since_service + size
        lag_ms = source_offsets.committed_ms(summary)
        if behind is not None:
            messages = messages.union(values_of(behind))
            summary = self._summary(messages)
        self._commit(messages, summary, entries)
        self.bytes_since_service += size
        progress.committed(self.name, entries, lag_ms, self.committed_at)
        self._changed = self._changed or bool(self.table.partition)

    def _commit(self, messages: DataFrame, summary: List[Any], entries: Dict[str, Any]) -> None:
        began = time.time()
        fill = Fill(self._spark, self.table, self.target.path if self._columns.fields else None)
        try:
            rows = self._newest(messages, summary, fill)
            planned = time.time()
            with self.lock:
                self._save(rows, entries)
        finally:
            fill.release()
        self.committed_at = time.time()
        took = planned - began, self.committed_at - planned
        LOG.info("%s: %d messages committed, %.2f s to plan, %.2f s to write", self.name, entries["messages"], *took)

    def pass_over(self, offsets: Dict[str, int], progress: Progress) -> None:
        """A commit without rows where a batch ended with what was set aside: else it would look as if it were to come.

        A table without any row has no commit to say it.
        """
        held = self._reached()["offsets"]
        ends = {**held, **{key: max(offset, held.get(key, 0)) for key, offset in offsets.items()}}
        if not self._columns.fields or ends == held:
            return
        entries = source_offsets.without_messages({**self._position, "offsets": ends})
        with self.lock:
            self._save(self._spark.createDataFrame([], self._columns), entries)
        progress.committed(self.name, entries, [], time.time())

    def _reached(self) -> Dict[str, Any]:
        return source_offsets.reached(self._position, self.table.epoch)

    def fenced(self, messages: DataFrame) -> DataFrame:
        """The messages without those of zombies (fencing.py), of whatever schema they are."""
        self._learn(messages)
        sender = decode.sender(self._schemas)
        runs = fencing.runs(messages, sender, self._reached()["runs"])
        return fencing.without(messages, sender, fencing.replaced(runs))

    def _learn(self, messages: DataFrame) -> None:
        """What lies ahead may have schemas that no batch had. One that is not the table's says nothing of a run."""
        framed = values_of(messages).select(schema_id().alias("id")).distinct()
        for writer in {row["id"] for row in framed.collect()} - set(self._schemas):
            with suppress(validate.Foreign):
                self._schemas[writer] = validate.own_schema(self._registry, writer, self.table)

    def _runs(self, messages: DataFrame, read: List[Any]) -> Dict[str, fencing.Firsts]:
        """What is known of the runs of the connector; only a batch with a new one is read for it."""
        known: Dict[str, fencing.Firsts] = self._reached()["runs"]
        if all(set(row["streaming"]) <= set(known.get(str(row["partition"]), {})) for row in read):
            return known
        return fencing.runs(messages, decode.sender(self._schemas), known)

    def _left(
        self, messages: DataFrame, read: List[Any], runs: Dict[str, fencing.Firsts]
    ) -> Tuple[DataFrame, List[Any]]:
        """The messages of a batch without those of zombies, and what is said of them."""
        zombies = fencing.those_of(fencing.replaced(runs), read)
        if not zombies:
            return messages, read
        for zombie in zombies:
            LOG.warning("%s: %s is left out", self.name, zombie)
        left = fencing.without(messages, decode.sender(self._schemas), zombies)
        return left, self._summary(left)

    def _newest(self, messages: DataFrame, summary: List[Any], fill: Fill) -> DataFrame:
        """One row per key, complete."""
        small = sum(row["messages"] for row in summary) <= SMALL_BATCH
        rows = self.rows(messages, summary)
        rows = rows.coalesce(1) if small else rows
        left_out = toast.left_out(summary)
        if not left_out:
            return decode.newest(rows.drop(*toast.FIELDS), self.table.keys)
        rows = fill.completed(decode.newest(toast.carried(rows, self.table, left_out), self.table.keys))
        rows = rows.drop(*toast.FIELDS)
        if self.table.delete == "hard":
            rows = erase_deleted(rows, self.table)
        return rows.coalesce(1) if small else rows

    def refuse_left_out(self, messages: DataFrame, refused: schema_evolution.SchemaRefused) -> None:
        """Raises SchemaRefused when a message left something out: it could stand in one that is to be skipped."""
        names = toast.left_out(self._summary(values_of(messages)))
        if names:
            raise schema_evolution.SchemaRefused(
                "{}; and write {} anew in these rows".format(refused, ", ".join(names))
            )

    def _summary(self, messages: DataFrame) -> List[Any]:
        summary = decode.summary(messages, self._schemas)
        unknown = ids_of(summary) - set(self._schemas)
        if not unknown:
            return summary
        self._schemas.update({one: validate.own_schema(self._registry, one, self.table) for one in unknown})
        return decode.summary(messages, self._schemas)

    def rows(self, messages: DataFrame, summary: List[Any]) -> DataFrame:
        """The rows of a batch as they are written. Raises SchemaRefused for a writer that the table can't take."""
        writers = sorted(ids_of(summary))
        if len(writers) == 1:
            return self._fitted(messages, writers[0])
        parts = [self._fitted(messages.where(schema_id() == writer), writer) for writer in writers]
        return decode.together(parts)

    def _fitted(self, messages: DataFrame, writer: int) -> DataFrame:
        if writer not in self._decoders:
            self._decoders[writer] = decode.Decoder(self._schemas[writer], self.table.epoch)
        rows = self._decoders[writer].rows(messages)
        rows = with_record_key(erase_deleted(rows, self.table), self.table)
        try:
            return schema_evolution.fit(rows, self._columns, self._required(messages, writer), self.name)
        except schema_evolution.SchemaRefused:
            if rows.where("__deleted = 'false'").take(1):
                raise
            # A row that is gone must not hold up the others: it keeps what fits.
            return schema_evolution.fit(
                schema_evolution.without_refused(rows, self._columns), self._columns, [], self.name
            )

    def _required(self, messages: DataFrame, writer: int) -> List[str]:
        """The columns that were NOT NULL before this batch, for messages newer than the last commit.

        What comes again may lack a column that was added later. Ids of writers don't tell: a schema that comes
        back has its old id.
        """
        last = self._position.get("schema_id")
        if last in (None, writer) or self._position["epoch"] != self.table.epoch or not self._position["offsets"]:
            return []
        names = [field["name"] for field in self._schemas[writer]["fields"]]
        required = schema_evolution.required_fields(self._registry.schema(last))
        if set(required) <= set(names):
            return required
        ends = [F.lit(item) for pair in self._position["offsets"].items() for item in (int(pair[0]), pair[1])]
        end = F.coalesce(F.create_map(*ends)[F.col("partition")], F.lit(0))
        return required if messages.where(F.col("offset") >= end).take(1) else []

    def _save(self, rows: DataFrame, entries: Dict[str, Any]) -> None:
        if self._broken_off and self._columns.fields:
            self._roll_back()
        self._broken_off = True
        options = {**self.target.options, **timeline.metadata_options(entries)}
        # One row per key already: Hudi's own way of seeing to that shuffles whole records.
        options["hoodie.combine.before.upsert"] = options["hoodie.combine.before.insert"] = "false"
        if not self._columns.fields:
            timeline.clear_unborn(self._spark, self.target.path)
            # The first commit makes base files, so that the read-optimised table is not empty until compaction.
            options["hoodie.datasource.write.operation"] = "bulk_insert"
            # Hudi 0.14's row writer names the levels of a list unlike its Avro writer, which merges later: every
            # array of a row that is then copied unchanged would become null.
            options["hoodie.datasource.write.row.writer.enable"] = "false"
        rows.write.format("hudi").options(**options).mode("append").save(self.target.path)
        self._broken_off = False
        if dict(rows.dtypes) != {field.name: field.dataType.simpleString() for field in self._columns}:
            self._changed = True
        self._columns = StructType(list(rows.schema))
        self._position = entries
        self.commits_since_service += 1

    def _roll_back(self) -> None:
        """What was broken off, before the next commit has its name.

        Hudi's DataFrame writer does it after, and writes so to the log files under a later name. A reader stops there
        (0.14, AbstractHoodieLogRecordReader): it would miss that commit until the one behind it (ADR 22).
        """
        with closing(write_client(self._spark, self.target)) as client:
            client.rollbackFailedWrites()

    def amend(self, rows: Callable[[], DataFrame]) -> None:
        """Commits rows that no message brought, at the position of the last commit.

        rows: made from what is stored, and asked for once no other commit can come between.
        """
        with self.lock:
            last = timeline.last_position(timeline.timeline(self._spark, self.target.path))
            self._save(rows(), source_offsets.without_messages(last))
        self.committed_at = time.time()

    def sync_after_commit(self) -> None:
        """A metastore that is away holds up one batch, the later ones no more: the table services ask again.

        What a crash may have kept from it is theirs, too: in a new JVM it takes seconds, while all tables are late.
        """
        if self._changed and not self.sync_failure:
            self.sync_catalogue()

    def check_catalogue(self) -> None:
        """Asks the metastore though nothing is new: somebody may have dropped or altered the table there."""
        self._sync_due = True
        self.sync_catalogue()

    def sync_catalogue(self) -> None:
        """Tells the metastore of columns and partitions that may be new."""
        with self._sync_lock:
            if not (self._sync_due or self._changed):
                return
            self._sync_due = self._changed = False
            try:
                hive_sync.sync(self._spark, self.target)
                self.sync_failure = ""
            except Exception as error:  # py4j wraps whatever the metastore client throws
                self._sync_due, self.sync_failure = True, cause(error)
                LOG.warning("%s: committed, but the metastore does not know yet: %s", self.name, self.sync_failure)


def values_of(messages: DataFrame) -> DataFrame:
    """What is read of Kafka's messages."""
    return messages.select("partition", "offset", "value")


def stored_columns(spark: SparkSession, path: str, entries: Dict[str, Any]) -> StructType:
    """The columns of the stored table without Hudi's own; no fields when no commit has entries yet."""
    if not entries:
        return StructType([])
    schema = spark.read.format("hudi").load(path).schema
    return StructType(schema.fields[META_COLUMNS:])


def ids_of(summary: List[Any]) -> set:
    """All schema ids of a batch."""
    return {writer for row in summary for writer in row["ids"]}


def erase_deleted(rows: DataFrame, table: Table) -> DataFrame:
    """The rows without the data of deleted ones, as the table's delete policy wants it."""
    return rows if flatten.keeps_deleted(table) else rows.selectExpr(*flatten.erased(rows.columns, table))


def with_record_key(rows: DataFrame, table: Table) -> DataFrame:
    """The rows with `_key` if their key is composite."""
    key = flatten.record_key(table)
    return rows.selectExpr("*", *key) if key else rows
