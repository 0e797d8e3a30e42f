"""Bronze: the archive of a topic as files that are named by their first offset; no message is archived twice.

Messages of known writers become Avro files as they are, without a Spark job (datum_files.py). Spark writes every other
batch, and other forms of an archive. Messages that can't be decoded are archived as raw bytes, in files of the same
names in another folder (ADR 16).
"""

import json
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.archive import files as archive
from spark_jobs.archive.catalog import BronzeTable
from spark_jobs.archive.datum_files import archived
from spark_jobs.archive.files import OFFSET_FIELD
from spark_jobs.archive.form import PARTITION, PLAIN, form_of
from spark_jobs.archive.placing import FILE, RAW, folders_of, framed, with_file, with_folder
from spark_jobs.events import message_form, validate
from spark_jobs.hudi import source_offsets
from spark_jobs.kafka.admin import Topic
from spark_jobs.kafka.schema_registry import Registry
from spark_jobs.runtime import storage
from spark_jobs.runtime.pipeline import Pipeline, Table
from spark_jobs.runtime.status import Progress

PREFIX = "bronze."  # begins the name of an archive in the status file
RAW_SCHEMA: Dict[str, Any] = {
    "type": "record",
    "name": "Raw",
    "namespace": "lake",
    "fields": [{"name": name, "type": ["null", "bytes"]} for name in ("key", "value")],
}


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
        self._folder, self._raw = archive.folders(self.path, self.topic)
        self.form = form_of(self.table)
        self._scratch = "{}/_scratch/{}".format(self.path, self.topic)
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

    def publish(self, partition: int, first: int, after: int, file: Any, progress: Progress) -> None:
        """Saves a file of datum_files.py. first, after: its first offset, and the one after its last."""
        self.refuse_gap({partition: first})
        if partition not in self._next:
            archive.note_begins(self.spark, self.path, self.topic, {partition: first})
        folder, name = self.form.folder(partition, ""), "{}+{}+{:010d}".format(self.topic, partition, first)
        place = "{}/{}/{}{}".format(self._folder, folder, name, self.form.suffix)
        file.save(place, self.spark._jsc.hadoopConfiguration())
        self._next[partition] = after
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
        storage.delete(self.spark, self._scratch)  # left by a crash, or by messages that can't be decoded
        messages = framed(messages).persist()
        try:
            ranges = offset_ranges(messages)
            firsts = first_offsets(ranges)
            self.refuse_gap(firsts)
            new = {partition: first for partition, first in firsts.items() if partition not in self._next}
            archive.note_begins(self.spark, self.path, self.topic, new)
            writers = sorted({row["id"] for row in ranges})
            files = self._placed(messages, writers)
            for writer in writers:
                self._write_schema(files.where(F.col("id") == writer), writer)
            published = self._publish({} if self.form.by == PARTITION else folders_of(files))
            self._next.update({row["partition"]: row["last"] + 1 for row in ranges})
            if self.form.by != PARTITION:
                archive.note_ends(self.spark, self.path, self.topic, self._next)
            self._show(published)
        finally:
            messages.unpersist()

    def _placed(self, messages: DataFrame, writers: List[int]) -> DataFrame:
        """The messages with their folder and file."""
        known = [writer for writer in writers if writer != RAW] if self.form.columns else []
        schemas = {writer: validate.own_schema(self.registry, writer, self.table) for writer in known}
        return with_file(with_folder(messages, self.form, schemas), self.file_records, bool(self.form.columns))

    def _write_schema(self, files: DataFrame, writer: int) -> None:
        schema, row = RAW_SCHEMA, F.struct("key", "value")
        if writer != RAW:
            flat = validate.own_schema(self.registry, writer, self.table)
            schema, row = message_form.written(flat), message_form.message(flat)
        columns = files.select(row.alias("row"), F.col("offset").alias(OFFSET_FIELD), FILE)
        ordered = columns.select("row.*", OFFSET_FIELD, FILE).sortWithinPartitions(FILE, OFFSET_FIELD)
        form = PLAIN if writer == RAW else self.form
        avro = {"avroSchema": json.dumps(archived(schema))} if form.format == PLAIN.format else {}
        output = ordered.write.format(form.format).options(**form.options, **avro)
        output.partitionBy(FILE).mode("overwrite").save("{}/{}".format(self._scratch, writer))

    def _show(self, folders: Iterable[str]) -> None:
        if self.shown is not None:
            self.shown.show(folders)

    def _publish(self, folders: Dict[str, str]) -> List[str]:
        """Gives each file its final name, by offset: if a file is visible, all files before it are.

        folders: the value of FOLDER, by file. Returns the folders of the archive that got files.
        """
        published = []
        for file, written in sorted(self._written(), key=lambda entry: [int(part) for part in entry[0].split("+")]):
            is_raw = written.startswith("{}/{}/".format(self._scratch, RAW))
            root, form = (self._raw, PLAIN) if is_raw else (self._folder, self.form)
            folder = form.folder(int(file.split("+")[0]), folders.get(file, ""))
            self._publish_file(written, "{}/{}/{}+{}{}".format(root, folder, self.topic, file, form.suffix))
            published += [] if is_raw else [folder]
        storage.delete(self.spark, self._scratch)
        return published

    def _written(self) -> List[Tuple[str, str]]:
        """'<partition>+<start offset>' and folder of each file of the batch."""
        written: List[Tuple[str, str]] = []
        for writer in storage.names(self.spark, self._scratch):
            scratch = "{}/{}".format(self._scratch, writer)
            folders = [name for name in storage.names(self.spark, scratch) if name.startswith(FILE + "=")]
            written.extend((folder[len(FILE) + 1 :], scratch + "/" + folder) for folder in folders)
        return written

    def _publish_file(self, folder: str, final: str) -> None:
        parts = [name for name in storage.names(self.spark, folder) if name.startswith("part-")]
        if len(parts) != 1:
            raise IOError("{} holds {} files where one was written".format(folder, len(parts)))
        storage.rename(self.spark, "{}/{}".format(folder, parts[0]), final)

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
