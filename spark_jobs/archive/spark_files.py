"""Archive files that Spark writes: of all forms, and of messages that can't be decoded, as raw bytes (ADR 16)."""

import json
from typing import Any, Dict, List, Tuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.archive import files as archive
from spark_jobs.archive.datum_files import archived
from spark_jobs.archive.files import OFFSET_FIELD
from spark_jobs.archive.form import PARTITION, PLAIN, Form
from spark_jobs.archive.placing import FILE, RAW, folders_of, with_file, with_folder
from spark_jobs.events import message_form, validate
from spark_jobs.kafka.schema_registry import Registry
from spark_jobs.runtime import storage
from spark_jobs.runtime.pipeline import Table

RAW_SCHEMA: Dict[str, Any] = {
    "type": "record",
    "name": "Raw",
    "namespace": "lake",
    "fields": [{"name": name, "type": ["null", "bytes"]} for name in ("key", "value")],
}


class SparkFiles:
    """The files of one topic. path: of all archives; most: offsets, or messages, that a file has at most."""

    def __init__(self, spark: SparkSession, table: Table, path: str, registry: Registry, form: Form, most: int) -> None:
        self._spark = spark
        self._table = table
        self._registry = registry
        self._form = form
        self._most = most
        self._topic = table.topic
        self._folder, self._raw = archive.folders(path, table.topic)
        self._scratch = "{}/_scratch/{}".format(path, table.topic)

    def write(self, messages: DataFrame, writers: List[int]) -> List[str]:
        """Writes messages (as placing.framed() gives them) of these writers.

        Returns the folders of the archive that got files.
        """
        files = self._placed(messages, writers)
        for writer in writers:
            self._write_schema(files.where(F.col("id") == writer), writer)
        return self._publish({} if self._form.by == PARTITION else folders_of(files))

    def clear(self) -> None:
        """Deletes what a crash left, or messages that can't be decoded."""
        storage.delete(self._spark, self._scratch)

    def _placed(self, messages: DataFrame, writers: List[int]) -> DataFrame:
        """The messages with their folder and file."""
        known = [writer for writer in writers if writer != RAW] if self._form.columns else []
        schemas = {writer: validate.own_schema(self._registry, writer, self._table) for writer in known}
        return with_file(with_folder(messages, self._form, schemas), self._most, bool(self._form.columns))

    def _write_schema(self, files: DataFrame, writer: int) -> None:
        schema, row = RAW_SCHEMA, F.struct("key", "value")
        if writer != RAW:
            flat = validate.own_schema(self._registry, writer, self._table)
            schema, row = message_form.written(flat), message_form.message(flat)
        columns = files.select(row.alias("row"), F.col("offset").alias(OFFSET_FIELD), FILE)
        ordered = columns.select("row.*", OFFSET_FIELD, FILE).sortWithinPartitions(FILE, OFFSET_FIELD)
        form = PLAIN if writer == RAW else self._form
        avro = {"avroSchema": json.dumps(archived(schema))} if form.format == PLAIN.format else {}
        output = ordered.write.format(form.format).options(**form.options, **avro)
        output.partitionBy(FILE).mode("overwrite").save("{}/{}".format(self._scratch, writer))

    def _publish(self, folders: Dict[str, str]) -> List[str]:
        """Gives each file its final name, by offset: if a file is visible, all files before it are.

        folders: the value of FOLDER, by file. Returns the folders of the archive that got files.
        """
        published = []
        for file, written in sorted(self._written(), key=lambda entry: [int(part) for part in entry[0].split("+")]):
            is_raw = written.startswith("{}/{}/".format(self._scratch, RAW))
            root, form = (self._raw, PLAIN) if is_raw else (self._folder, self._form)
            folder = form.folder(int(file.split("+")[0]), folders.get(file, ""))
            self._publish_file(written, archive.file_path(root, folder, self._topic, file + form.suffix))
            published += [] if is_raw else [folder]
        self.clear()
        return published

    def _written(self) -> List[Tuple[str, str]]:
        """'<partition>+<start offset>' and folder of each file of the batch."""
        written: List[Tuple[str, str]] = []
        for writer in storage.names(self._spark, self._scratch):
            scratch = "{}/{}".format(self._scratch, writer)
            folders = [name for name in storage.names(self._spark, scratch) if name.startswith(FILE + "=")]
            written.extend((folder[len(FILE) + 1 :], scratch + "/" + folder) for folder in folders)
        return written

    def _publish_file(self, folder: str, final: str) -> None:
        parts = [name for name in storage.names(self._spark, folder) if name.startswith("part-")]
        if len(parts) != 1:
            raise IOError("{} holds {} files where one was written".format(folder, len(parts)))
        storage.rename(self._spark, "{}/{}".format(folder, parts[0]), final)
