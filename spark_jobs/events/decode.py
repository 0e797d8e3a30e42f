"""Change events: Kafka messages in Confluent framing, decoded each with its own writer schema."""

from typing import Any, Dict

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_jobs.events import message_form, toast
from spark_jobs.events.flatten import GENERATION, UNAVAILABLE, order
from spark_jobs.kafka.messages import schema_id
from spark_jobs.runtime.pipeline import Table
from spark_jobs.sources.engine import engine

NAMES = {"type": "array", "items": "string"}
METADATA_TYPES = {"__lsn": "long", "__op": "string", "__source_ts_ms": "long", UNAVAILABLE: NAMES, GENERATION: "long"}
METADATA = "struct<__lsn:bigint,__op:string,__source_ts_ms:bigint,__unavailable:array<string>,__run:bigint>"
Schemas = Dict[int, Dict[str, Any]]


class Decoder:
    """The messages of one writer schema as rows in lake types, plus `_order`.

    Made once per writer: building the columns costs as much as a small batch does to read.
    """

    def __init__(self, writer_schema: Dict[str, Any], table: Table) -> None:
        self._row = message_form.record(writer_schema).alias("row")
        columns = toast.lake_columns(writer_schema, "row", engine(table.engine).convert)
        self._columns = [F.expr(sql) for sql in [*columns, order(table.epoch, "offset")]]

    def rows(self, messages: DataFrame, *more: str) -> DataFrame:
        """One row per message. messages: value binary, offset long (others are ignored). more: SQL over `row`."""
        return messages.select(self._row, "offset").select(*self._columns, *map(F.expr, more))


def sender(schemas: Schemas) -> Column:
    """The facts of a message for fencing.py: generation, op and committed_ms. Null if it can't be decoded."""
    facts = metadata(schemas, "PERMISSIVE")
    generation = facts[GENERATION].cast("string").alias("generation")
    return F.struct(generation, facts["__op"].alias("op"), facts["__source_ts_ms"].alias("committed_ms"))


def metadata(schemas: Schemas, mode: str = "FAILFAST") -> Column:
    """A struct of the fields of METADATA; the decoder skips all others. Null for a message of an unknown writer."""
    facts = {writer: message_form.some_fields(schema, METADATA_TYPES, mode) for writer, schema in schemas.items()}
    known = [F.when(schema_id() == writer, facts[writer]) for writer in sorted(facts)]
    return F.coalesce(*known) if known else F.lit(None).cast(METADATA)
