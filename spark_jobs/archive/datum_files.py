"""Archive files made of the bytes of the messages, without decoding them: lake.stream.DatumFile, one per partition."""

import json
import time
from typing import Any, Callable, Dict, NamedTuple

from pyspark.sql import SparkSession

from spark_jobs.archive.files import OFFSET_FIELD
from spark_jobs.events import message_form, validate
from spark_jobs.hudi.appender import NotPlain, plain_only
from spark_jobs.kafka.schema_registry import Registry
from spark_jobs.runtime.jvm import java
from spark_jobs.runtime.pipeline import Table

NEVER = float("inf")


class Open(NamedTuple):
    """A file that is being made (a Java DatumFile), and when it was begun (time.monotonic())."""

    file: Any
    since: float


def archived(schema: Dict[str, Any]) -> Dict[str, Any]:
    """The schema of a file with messages of this one."""
    return {**schema, "fields": schema["fields"] + [{"name": OFFSET_FIELD, "type": "long"}]}


class DatumFiles:
    """The files of one topic that are being made.

    save: called with the partition and the file (a Java DatumFile), when the next message has another writer, or is
    max_records offsets after its first one.
    """

    def __init__(
        self,
        spark: SparkSession,
        table: Table,
        registry: Registry,
        max_records: int,
        save: Callable[[int, Any], None],
    ) -> None:
        self._spark = spark
        self._table = table
        self._registry = registry
        self._most = max_records
        self._save = save
        self._open: Dict[int, Open] = {}
        self._schemas: Dict[int, Dict[str, Any]] = {}

    def take(self, messages: Any) -> Dict[str, int]:
        """Adds messages (a Java list of ConsumerRecords), in the order of each partition. The next offset of each.

        Raises NotPlain at one that is not a record of a known writer; those before it were added.
        """
        ends: Dict[str, int] = {}
        place, size = 0, messages.size()
        while place < size:
            first = messages.get(place)
            partition = first.partition()
            if partition not in self._open:
                self._open[partition] = Open(self._begun(first), time.monotonic())
            with plain_only():
                after = self._open[partition].file.add(messages, place)
            if after < size and messages.get(after).partition() == partition:
                self._close(partition)
            if after > place:  # else the file was full, or of another writer
                ends[str(partition)] = messages.get(after - 1).offset() + 1
            place = after
        return ends

    def save_begun_by(self, moment: float) -> None:
        """Saves the files that were begun by then (time.monotonic())."""
        for partition in [number for number, one in self._open.items() if one.since <= moment]:
            self._close(partition)

    def oldest(self) -> float:
        """When the oldest one was begun; infinity if there is none."""
        return min([one.since for one in self._open.values()], default=NEVER)

    def _begun(self, first: Any) -> Any:
        schema = self._schema(java(self._spark, "lake.stream.Frame").writer(first))
        texts = json.dumps(schema), json.dumps(archived(schema))
        return java(self._spark, "lake.stream.DatumFile")(first, *texts, self._most)

    def _schema(self, writer: int) -> Dict[str, Any]:
        if writer not in self._schemas:
            try:
                flat = validate.own_schema(self._registry, writer, self._table)
            except validate.UnknownWriter as unknown:
                raise NotPlain(str(unknown)) from None
            self._schemas[writer] = message_form.written(flat)
        return self._schemas[writer]

    def _close(self, partition: int) -> None:
        made = self._open.pop(partition).file
        if made.next() > made.first():
            self._save(partition, made)
