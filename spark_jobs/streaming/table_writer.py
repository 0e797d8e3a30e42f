"""Writes batches. One that can't be applied is tried in other ways, and no message is skipped silently."""

import logging
import threading
from dataclasses import dataclass
from typing import Any, Callable, Dict, Optional

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_jobs.events import validate
from spark_jobs.events.batch import summarize
from spark_jobs.events.fencing import drop_stale_ahead
from spark_jobs.events.schema_evolution import SchemaRefused
from spark_jobs.events.toast_from_table import Unfillable, later
from spark_jobs.events.writer_schemas import WriterSchemas
from spark_jobs.hudi.appender import NotPlain
from spark_jobs.hudi.table import Busy, Commit, HudiTable
from spark_jobs.kafka.messages import end_offsets, latest_message_per_key, split_by_bytes, start_offsets
from spark_jobs.kafka.schema_registry import Registry
from spark_jobs.quarantine.table import Quarantine
from spark_jobs.runtime.errors import root_cause
from spark_jobs.runtime.pipeline import Table
from spark_jobs.runtime.status import Progress
from spark_jobs.streaming.apply_batch import Oversized, apply_batch
from spark_jobs.streaming.plain_road import PlainRoad

LOG = logging.getLogger("table_writer")
STOP = "stop"  # on_bad_message of a table; the other is "quarantine"
PART_BYTES = 128 * 1024 * 1024  # of values: Hudi holds the rows of a commit in memory, some of them more than once
ReadRange = Callable[[Dict[str, int], Optional[Dict[str, int]]], DataFrame]


class PoisonMessage(Exception):
    """A message that can't be applied; its table stops at it."""


class Retired(Exception):
    """The query of the table was restarted, and this writer may not write any more."""


@dataclass(eq=False)
class TableWriter:
    """Writes the batches of one table.

    A batch is applied as a whole. Messages are checked only in a batch that fails, so valid batches cost nothing extra.

    read_range: messages of the topic from an offset of each partition on, to those before another offset or to its end
    may_write: raises when another job may write the table
    """

    table: HudiTable
    registry: Registry
    quarantine: Quarantine
    progress: Progress
    read_range: ReadRange
    may_write: Callable[[], None]
    part_bytes: int = PART_BYTES

    def __post_init__(self) -> None:
        self._schemas = WriterSchemas(self.registry, self.table.source)
        self._plain = PlainRoad(self.table, self._schemas)
        self._lock = threading.Lock()  # the query or a replay: only one at a time may change the state of the table
        self._retired = False

    @property
    def waiting(self) -> int:
        """How many messages were set aside, and are neither replayed nor dropped."""
        return self.quarantine.waiting(self.table.source.topic)

    def write(self, messages: DataFrame) -> None:
        """Commits a batch (partition, offset, key, value). Messages that can't be applied are set aside; or the table
        stops, with PoisonMessage."""
        try:
            self._write(messages, self.part_bytes)
        except Oversized as oversized:
            # Kafka's source counts messages, and 200,000 small ones make a good batch.
            LOG.info("%s; it is written in parts", oversized)
            for partition, first, last in split_by_bytes(messages, self.part_bytes):
                # Each part is read from Kafka: most of a read of the whole batch would be thrown away each time.
                self._write(self.read_range({str(partition): first}, {str(partition): last + 1}))

    def prepare(self) -> None:
        """Prepares append() for the messages that the table got last. It may ask the registry, and takes a moment."""
        if self.table.can_append:
            try:
                self._plain.prepare()
            except Exception as error:  # the registry, or py4j: until the next time all goes the general road
                LOG.warning("%s: takes the general road: %s", self.table.name, root_cause(error))

    def append(self, messages: Any) -> Optional[Dict[str, int]]:
        """Commits a plain batch without a Spark job, and returns the offsets after it; None where only write() can.

        messages: a Java list of ConsumerRecords. Nothing is written, and nothing returned, while there are none yet, or
        while another thread has the table.
        """
        if not messages.size() or not self._lock.acquire(blocking=False):
            return {}
        try:
            self._check()
            return self._append(messages)
        finally:
            self._lock.release()

    def replay(self, messages: DataFrame) -> None:
        """Commits single old messages. Their offsets give them their place in the order."""
        with self._lock:
            self._check()
            self._report(apply_batch(messages, self.table, self._schemas, replayed=True))
        self.table.metastore.after_commit()

    def retire(self) -> None:
        """Waits for the present write to end. After this the writer writes nothing more."""
        with self._lock:
            self._retired = True

    def _append(self, messages: Any) -> Optional[Dict[str, int]]:
        try:
            commit, ends = self._plain.apply(messages)
        except NotPlain as reason:
            LOG.debug("%s: not plain: %s", self.table.name, reason)
            return None
        except Busy:
            return {}
        except Exception as error:  # py4j: the general road meets it again, and knows what to do
            LOG.warning("%s: left to the general road: %s", self.table.name, root_cause(error))
            return None
        self._report(commit)
        return ends

    def _write(self, messages: DataFrame, limit: Optional[int] = None) -> None:
        try:
            self._apply(messages, limit=limit)
        except SchemaRefused as refused:
            # Only the newest message of each key must fit, so a table continues once its source is corrected.
            latest = latest_message_per_key(self._from_here_on(messages))
            self._refuse_left_out(latest, refused)
            self._apply(latest)
        except Unfillable as missing:
            LOG.warning("%s; looking for it in later messages", missing)
            ahead = later(messages, self._from_here_on(messages), missing.offsets)
            # A bad one among them is met again in its own batch.
            self._apply(messages, validate.valid(ahead, self.table.source, self.registry))

    def _from_here_on(self, messages: DataFrame) -> DataFrame:
        """The messages of the batch and all later ones."""
        ahead = self.read_range(start_offsets(messages), None)
        return drop_stale_ahead(ahead, self.table.reached["runs"], self._schemas)

    def _refuse_left_out(self, messages: DataFrame, refused: SchemaRefused) -> None:
        """Raises SchemaRefused when a message left a value out: a message that would be skipped could have it."""
        names = summarize(messages, self._schemas).left_out
        if names:
            raise SchemaRefused("{}; and write {} again in these rows".format(refused, ", ".join(names)))

    def _apply(self, messages: DataFrame, lookahead: Optional[DataFrame] = None, limit: Optional[int] = None) -> None:
        with self._lock:
            self._check()
            try:
                self._report(apply_batch(messages, self.table, self._schemas, lookahead, limit))
            except (SchemaRefused, Oversized, Unfillable):
                raise
            except Exception as error:  # py4j, or the registry
                self._set_aside(messages, lookahead, error)

    def _set_aside(self, messages: DataFrame, lookahead: Optional[DataFrame], error: Exception) -> None:
        annotated, first = validate.find_poison(messages, self.table.source, self.registry, error)
        try:
            self._check()  # again: the first try may have taken minutes to fail
            if self.table.source.on_bad_message == STOP:
                raise PoisonMessage(refusal(self.table.name, self.table.source, first)) from None
            LOG.warning("%s: set aside partition %d offset %d", self.table.name, first["partition"], first["offset"])
            self.quarantine.put(annotated.where(F.col(validate.REASON).isNotNull()), self.table.source)
            valid = annotated.where(F.col(validate.REASON).isNull())
            self._apply_valid(valid, lookahead)
            self._report(self.table.commit_offsets(end_offsets(annotated)))
        finally:
            annotated.unpersist()

    def _apply_valid(self, messages: DataFrame, lookahead: Optional[DataFrame]) -> None:
        """The row that a message ends may have come with one that was set aside."""
        try:
            self._report(apply_batch(messages, self.table, self._schemas, lookahead))
        except validate.NoSuchRow as error:
            self._set_aside(messages, lookahead, error)

    def _check(self) -> None:
        if self._retired:
            raise Retired("the query of {} was restarted meanwhile; try again".format(self.table.name))
        self.may_write()

    def _report(self, commit: Optional[Commit]) -> None:
        if commit is not None:
            self.progress.committed(self.table.name, commit.position, commit.committed_ms, commit.at)


def refusal(name: str, table: Table, row: Any) -> str:
    """The error of a table that stops in front of a message."""
    what = "{}: {} partition {} offset {} can't be applied: {}; the table stops here. To set such messages "
    remedy = "aside: on_bad_message: quarantine in databases/{}.yaml, then lake apply".format(table.database)
    return what.format(name, table.topic, row["partition"], row["offset"], row[validate.REASON]) + remedy
