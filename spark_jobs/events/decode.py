"""Change events: Kafka messages in Confluent framing, decoded each with its own writer schema."""

import json
from typing import Any, Dict, List

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from spark_jobs.events import toast
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
        self._row = from_avro(F.expr("substring(value, 6)"), json.dumps(writer_schema)).alias("row")
        columns = toast.lake_columns(writer_schema, "row", engine(table.engine).convert)
        self._columns = [F.expr(sql) for sql in [*columns, order(table.epoch, "offset")]]

    def rows(self, messages: DataFrame) -> DataFrame:
        """One row per message. messages: value binary, offset long (other columns are ignored)."""
        return messages.select(self._row, "offset").select(*self._columns)


def sender(schemas: Schemas) -> Column:
    """The facts of a message for fencing.py: generation, op and committed_ms. Null if it can't be decoded."""
    facts = metadata(schemas, "PERMISSIVE")
    generation = facts[GENERATION].cast("string").alias("generation")
    return F.struct(generation, facts["__op"].alias("op"), facts["__source_ts_ms"].alias("committed_ms"))


def metadata(schemas: Schemas, mode: str = "FAILFAST") -> Column:
    """A struct of the fields of METADATA; the decoder skips all others. Null for a message of an unknown writer."""
    known = [F.when(schema_id() == writer, _metadata_of(schemas[writer], mode)) for writer in sorted(schemas)]
    return F.coalesce(*known) if known else F.lit(None).cast(METADATA)


def _metadata_of(writer_schema: Dict[str, Any], mode: str) -> Column:
    fields = [{"name": name, "type": ["null", kind], "default": None} for name, kind in METADATA_TYPES.items()]
    options = {"avroSchema": json.dumps(with_fields(writer_schema, fields)), "mode": mode}
    return from_avro(F.expr("substring(value, 6)"), json.dumps(writer_schema), options)


def with_fields(record: Dict[str, Any], fields: List[Dict[str, Any]]) -> Dict[str, Any]:
    """The Avro schema of a record, with other fields. The name stays, because a reader matches records by it."""
    return dict({kept: record[kept] for kept in ("type", "name", "namespace") if kept in record}, fields=fields)
