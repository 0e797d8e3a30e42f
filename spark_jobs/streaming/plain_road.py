"""The short road of a batch: plain messages become one commit of their Hudi table, without a Spark job.

It ends in the same table as the general road (apply_batch.py), which takes every batch that is not plain.
"""

import json
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from pyspark.sql.types import StructType

from spark_jobs.events import fencing
from spark_jobs.events.batch import Batch
from spark_jobs.events.plain import plain_rows
from spark_jobs.events.writer_schemas import WriterSchemas
from spark_jobs.hudi.appender import NotPlain, plain_only
from spark_jobs.hudi.table import Commit, HudiTable
from spark_jobs.runtime.jvm import java, java_list


class Prepared(NamedTuple):
    """rows: the compiled ones (a Java lake.stream.Rows) of a writer and of these columns; None if there are none."""

    writer: int
    columns: StructType
    rows: Optional[Any]


class PlainRoad:
    """The road of one table."""

    def __init__(self, table: HudiTable, schemas: WriterSchemas) -> None:
        self._table = table
        self._schemas = schemas
        self._prepared: Optional[Prepared] = None

    def prepare(self) -> None:
        """Compiles the rows of the writer of the last commit. It may ask the registry, and takes a moment."""
        stored, writer = self._table.stored, self._table.reached.get("schema_id")
        if writer is not None and not self._is_prepared():
            rows = plain_rows(self._table.spark, self._schemas, writer, stored)
            self._prepared = Prepared(writer, stored.columns, rows)

    def apply(self, messages: Any) -> Tuple[Commit, Dict[str, int]]:
        """Commits the messages (a Java list of ConsumerRecords), with their position in the same commit.

        Returns the next offset of each of their partitions, too. Raises NotPlain before anything is written; and Busy.
        """
        table, generations = self._table, self._table.reached["runs"]
        if not self._is_prepared() or self._prepared is None or self._prepared.rows is None:
            raise NotPlain("the first batch of a writer, or one with other columns than the table")
        found = self._decoded(messages, self._prepared)
        batch = Batch(None, _partitions(found, self._prepared.writer))  # type: ignore[arg-type]
        if not fencing.needs_nothing(batch, generations):
            raise NotPlain("messages of another generation of the connector")
        position = table.position_after(batch, batch, generations)
        return table.append(found.rows(), position, batch.value_bytes, batch.committed_ms), batch.next_offsets

    def _is_prepared(self) -> bool:
        now = self._table.reached.get("schema_id"), self._table.stored.columns
        return self._prepared is not None and self._prepared[:2] == now

    def _decoded(self, messages: Any, prepared: Prepared) -> Any:
        """A Java lake.stream.PlainBatch."""
        spark = self._table.spark
        keys = java_list(spark, self._table.source.keys)
        # A key that two rows hold for a moment needs REPLICA IDENTITY FULL (events/held_twice.py).
        full = self._table.source.replica_identity == "full"
        last = self._table.position.get("source_ts_ms") or -1
        with plain_only():
            return java(spark, "lake.stream.PlainBatch")(messages, prepared.rows, prepared.writer, keys, full, last)


def _partitions(found: Any, writer: int) -> List[Dict[str, Any]]:
    """The rows of batch.summary()."""
    facts = {"ids": [writer], "last_id": writer, "unavailable": []}
    return [{**one, **facts} for one in json.loads(found.summary())]
