"""Bronze: the archive of a topic as files that are named by their first offset; no message is archived twice.

Messages of known writers become Avro files as they are, without a Spark job (datum_files.py). Spark writes every other
batch, and other forms of an archive (spark_files.py). Messages that can't be decoded are archived as raw bytes, in
files of the same names in another folder (ADR 16).
"""

from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, List, Optional

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.archive import files as archive
from spark_jobs.archive.catalog import BronzeTable
from spark_jobs.archive.form import PARTITION, PLAIN, form_of
from spark_jobs.archive.placing import framed
from spark_jobs.archive.spark_files import SparkFiles
from spark_jobs.events import validate
from spark_jobs.hudi import source_offsets
from spark_jobs.kafka.admin import Topic
from spark_jobs.kafka.schema_registry import Registry
from spark_jobs.runtime import storage
from spark_jobs.runtime.pipeline import Pipeline, Table
from spark_jobs.runtime.status import Progress

PREFIX = "bronze."  # begins the name of an archive in the status file


class BronzeGap(Exception):
    """Offsets are missing after the last file, or begin at 0 again: Kafka has lost messages that were not archived."""


@dataclass(eq=False)
class BronzeTopic:
    """The archive of one topic. ask: returns the topic that has the name now."""

    spark: SparkSession
    table: Table
    path: str
    registry: Registry
    max_records: int
    ask: Callable[[], Topic]
    shown: Optional[BronzeTable] = None  # the table of the catalog that shows the archive

    def __post_init__(self) -> None:
        self.topic = self.table.topic
        self.name = PREFIX + self.topic
        self._topic_id: Optional[str] = None
        self._folder, _ = archive.folders(self.path, self.topic)
        self.form = form_of(self.table)
        place, form = (self.spark, self.table, self.path), (self.form, self.file_records)
        self._by_spark = SparkFiles(*place, self.registry, *form)
        self._next: Dict[int, int] = {}
        self._resumed = False

    @property
    def takes_datums(self) -> bool:
        """True if the messages become files as they are: Avro, by partition."""
        return not self.table.is_json and (self.form.format, self.form.by) == (PLAIN.format, PLAIN.by)

    @property
    def file_records(self) -> int:
        """Offsets that a file has at most."""
        return self.form.max_records or self.max_records

    @property
    def reached(self) -> Dict[int, int]:
        """By partition, the offset after its last file."""
        return dict(self._next)

    def resume(self) -> Dict[int, int]:
        """Finds out what is archived. By partition, the offset after the last file."""
        if not self._resumed:
            reached = archive.reached(self.spark, self.path, self.topic, self.form)
            self._next = {int(partition): end for partition, end in reached.items()}
            self._show(archive.folder_names(self.spark, self._folder))
            self._resumed = True
        return self.reached

    def write(self, messages: DataFrame, progress: Progress) -> None:
        """Archives the new messages of a batch; those that are archived are passed over."""
        messages = self._new(messages)
        try:
            self._archive(messages)
        except BronzeGap:
            raise
        except Exception as error:  # py4j, or the registry
            annotated, _ = validate.find_poison(messages, self.table, self.registry, error, applied=False)
            try:
                self._archive(annotated)
            finally:
                annotated.unpersist()
        self._report(progress)

    def publish(self, partition: int, made: Any, progress: Progress) -> None:
        """Saves a file of datum_files.py (a Java DatumFile)."""
        self._expect({partition: made.first()})
        folder, name = self.form.folder(partition, ""), "{}+{:010d}{}".format(partition, made.first(), self.form.suffix)
        place = archive.file_path(self._folder, folder, self.topic, name)
        made.save(place, self.spark._jsc.hadoopConfiguration())
        self._next[partition] = made.next()
        self._show([folder])
        self._report(progress)

    def _report(self, progress: Progress) -> None:
        failure, reached = self.shown.failure if self.shown else "", {str(k): v for k, v in self._next.items()}
        progress.update(self.name, state="running", reason=None, offsets=reached, sync_failure=failure)

    def _new(self, messages: DataFrame) -> DataFrame:
        self.resume()
        self.accept(self.ask())
        if not self._next:
            return messages
        held = F.create_map(*[F.lit(item) for pair in self._next.items() for item in pair])
        return messages.where(F.col("offset") >= F.coalesce(held[F.col("partition")], F.lit(0)))

    def accept(self, topic: Topic) -> None:
        """Notes the id of the topic. Raises BronzeGap when the archive belongs to a topic that was deleted.

        Raises TopicChanged when the topic has new partitions: tables made from such an archive would be wrong.
        """
        place = archive.topic_id_file(self.path, self.topic)
        source_offsets.refuse_repartitioned(self.table, topic)
        if self._topic_id is None:
            self._topic_id = storage.read_text(self.spark, place) if storage.exists(self.spark, place) else ""
        if self._next and topic.id != self._topic_id and topic.id and self._topic_id:
            what = "topic {} was deleted and re-created: {} is the archive of the old one; {}"
            raise BronzeGap(what.format(self.topic, self._folder, source_offsets.RUNBOOK))
        if topic.id not in ("", self._topic_id):
            storage.write_text(self.spark, place, topic.id)
            self._topic_id = topic.id

    def _archive(self, messages: DataFrame) -> None:
        self._by_spark.clear()
        messages = framed(messages).persist()
        try:
            ranges = offset_ranges(messages)
            self._expect(first_offsets(ranges))
            writers = sorted({row["id"] for row in ranges})
            published = self._by_spark.write(messages, writers)
            self._next.update({row["partition"]: row["last"] + 1 for row in ranges})
            if self.form.by != PARTITION:
                archive.note_ends(self.spark, self.path, self.topic, self._next)
            self._show(published)
        finally:
            messages.unpersist()

    def _expect(self, firsts: Dict[int, int]) -> None:
        """Before files that begin at these offsets: refuses a gap, and notes where a partition begins."""
        self.refuse_gap(firsts)
        new = {partition: first for partition, first in firsts.items() if partition not in self._next}
        archive.note_begins(self.spark, self.path, self.topic, new)

    def _show(self, folders: Iterable[str]) -> None:
        if self.shown is not None:
            self.shown.show(folders)

    def refuse_gap(self, firsts: Dict[int, int]) -> None:
        """Raises BronzeGap if offsets are missing between the last files and these ones, which come next."""
        for partition, first in firsts.items():
            if first > self._next.get(partition, first):
                what = "{} partition {}: offsets {} to {} are missing"
                raise BronzeGap(what.format(self.topic, partition, self._next[partition], first - 1))


def shown_as(spark: SparkSession, pipeline: Pipeline, table: Table) -> Optional[BronzeTable]:
    """The table of the catalog that shows the archive, if the definition wants one."""
    entry = (table.bronze or {}).get("catalog")
    if entry is None:
        return None
    location, _ = archive.folders(pipeline.bronze["path"], table.topic)
    return BronzeTable(spark, entry, form_of(table).format, location, pipeline.metastore)


def offset_ranges(messages: DataFrame) -> List[Any]:
    """First and last offset per partition and writer schema."""
    bounds = F.min("offset").alias("first"), F.max("offset").alias("last")
    return messages.groupBy("partition", "id").agg(*bounds).collect()


def first_offsets(ranges: List[Any]) -> Dict[int, int]:
    """The first offset by partition, from offset_ranges()."""
    partitions = {row["partition"] for row in ranges}
    return {one: min(row["first"] for row in ranges if row["partition"] == one) for one in partitions}
