"""Messages to rows: each decoded with its own writer schema, and fitted to the columns of the table."""

from functools import reduce
from typing import Any, Dict, List, NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from spark_jobs.events import flatten, schema_evolution
from spark_jobs.events.batch import Batch
from spark_jobs.events.deletes import erase_deleted
from spark_jobs.events.writer_schemas import WriterSchemas
from spark_jobs.kafka.messages import schema_id
from spark_jobs.runtime.pipeline import Table


class Stored(NamedTuple):
    """The table as its last commit left it, by its name in errors.

    columns: no fields before the first commit; position: the entries of the last one (hudi/source_offsets.py)
    """

    name: str
    columns: StructType
    position: Dict[str, Any]


def decode_and_fit(batch: Batch, schemas: WriterSchemas, stored: Stored) -> DataFrame:
    """The rows of a batch as they are written. Raises SchemaRefused for a writer that the table can't take."""
    writers = batch.writers
    if len(writers) == 1:
        return _fitted(batch.messages, writers[0], schemas, stored)
    own = {writer: batch.messages.where(schema_id() == writer) for writer in writers}
    parts = [_fitted(own[writer], writer, schemas, stored) for writer in writers]
    return reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), parts)


def with_record_key(rows: DataFrame, table: Table) -> DataFrame:
    """The rows with `_key` if their key is composite."""
    key = flatten.record_key(table)
    return rows.selectExpr("*", *key) if key else rows


def _fitted(messages: DataFrame, writer: int, schemas: WriterSchemas, stored: Stored) -> DataFrame:
    rows = with_record_key(erase_deleted(schemas.rows(messages, writer), schemas.table), schemas.table)
    try:
        return schema_evolution.fit(rows, stored.columns, _required(messages, writer, schemas, stored), stored.name)
    except schema_evolution.SchemaRefused:
        if rows.where("__deleted = 'false'").take(1):
            raise
        # A deleted row must not stop the others: it keeps the columns that fit.
        fitting = schema_evolution.without_refused(rows, stored.columns)
        return schema_evolution.fit(fitting, stored.columns, [], stored.name)


def _required(messages: DataFrame, writer: int, schemas: WriterSchemas, stored: Stored) -> List[str]:
    """The columns that were NOT NULL before this batch, for messages newer than the last commit.

    Redelivered messages may not have a column that was added later. The ids of writers don't show that: a schema that
    is used again has its old id.
    """
    position = stored.position
    last = position.get("schema_id")
    if last in (None, writer) or position["epoch"] != schemas.table.epoch or not position["offsets"]:
        return []
    required = schemas.required(last)
    if set(required) <= {field["name"] for field in schemas.known[writer]["fields"]}:
        return required
    ends = [F.lit(item) for pair in position["offsets"].items() for item in (int(pair[0]), pair[1])]
    end = F.coalesce(F.create_map(*ends)[F.col("partition")], F.lit(0))
    return required if messages.where(F.col("offset") >= end).take(1) else []
