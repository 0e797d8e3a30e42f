"""Change events: Kafka messages in Confluent framing, decoded each with its own writer schema."""

import json
from functools import reduce
from typing import Any, Dict, List, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from spark_jobs.events import toast
from spark_jobs.events.flatten import RUN, order
from spark_jobs.kafka.messages import schema_id
from spark_jobs.runtime.frames import listed

QUANTILES = ", ".join(str(index / 20.0) for index in range(21))
METADATA_FIELDS = (
    ("__lsn", "long"),
    ("__op", "string"),
    ("__source_ts_ms", "long"),
    (toast.UNAVAILABLE, {"type": "array", "items": "string"}),
    (RUN, "long"),
)
METADATA = "struct<__lsn:bigint,__op:string,__source_ts_ms:bigint,__unavailable:array<string>,__run:bigint>"
COMMITTED_MS = "CASE WHEN facts.__op <> 'r' THEN facts.__source_ts_ms END"
SUMMARY = (
    "collect_set(id) AS ids",
    "max_by(id, offset) AS last_id",
    "max(offset) AS offset",
    "count(1) AS messages",
    "sum(coalesce(size, 0)) AS bytes",
    "max(facts.__lsn) AS lsn",
    "count({}) AS changes".format(COMMITTED_MS),
    "percentile_approx({}, array({}), 1000) AS committed_ms".format(COMMITTED_MS, QUANTILES),
    "array_distinct(flatten(collect_set(facts.__unavailable))) AS unavailable",
    "collect_set(cast(facts.__run AS string)) AS runs",
    "collect_set(CASE WHEN facts.__op <> 'r' THEN cast(facts.__run AS string) END) AS streaming",
)
Schemas = Dict[int, Dict[str, Any]]


class Decoder:
    """The messages of one writer schema as rows in lake types, plus `_order`.

    Made once per writer: building the columns costs as much as a small batch does to read.
    """

    def __init__(self, writer_schema: Dict[str, Any], epoch: int) -> None:
        self._row = from_avro(F.expr("substring(value, 6)"), json.dumps(writer_schema)).alias("row")
        self._columns = [F.expr(sql) for sql in [*toast.lake_columns(writer_schema, "row"), order(epoch, "offset")]]

    def rows(self, messages: DataFrame) -> DataFrame:
        """One row per message. messages: value binary, offset long (other columns are ignored)."""
        return messages.select(self._row, "offset").select(*self._columns)


def together(parts: List[DataFrame]) -> DataFrame:
    """The rows of several writers; columns that a writer did not have are null."""
    return reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), parts)


def summary(messages: DataFrame, schemas: Schemas) -> List[Any]:
    """One Row per Kafka partition of a batch: schema ids, last offset, how many messages and bytes of values, greatest
    LSN, quantiles of commit times, the names of columns that a message left out, the runs that sent messages, and those
    that sent changes (fencing.py).

    What needs decoding is taken from messages whose schema is in `schemas`; ask again once all ids are known.
    Commit times (ms) leave out snapshot rows, which were committed long before they were read.
    """
    size = F.length("value").alias("size")
    facts = messages.select("partition", "offset", size, schema_id().alias("id"), _metadata(schemas).alias("facts"))
    one_task = facts.coalesce(1)  # rows of one Kafka partition already lie together
    found = one_task.groupBy("partition").agg(F.expr("struct({}) AS row".format(", ".join(SUMMARY))))
    return found.select("partition", "row.*").collect()


def sender(schemas: Schemas) -> Column:
    """Of a message, as fencing.py wants it: run, op and committed_ms. Null for one that can't be decoded."""
    facts = _metadata(schemas, "PERMISSIVE")
    run = facts[RUN].cast("string").alias("run")
    return F.struct(run, facts["__op"].alias("op"), facts["__source_ts_ms"].alias("committed_ms"))


def _metadata(schemas: Schemas, mode: str = "FAILFAST") -> Column:
    """A struct of the fields of METADATA; the decoder skips all others. Null for a writer that is not known."""
    known = [F.when(schema_id() == writer, _metadata_of(schemas[writer], mode)) for writer in sorted(schemas)]
    return F.coalesce(*known) if known else F.lit(None).cast(METADATA)


def _metadata_of(writer_schema: Dict[str, Any], mode: str) -> Column:
    fields = [{"name": name, "type": ["null", kind], "default": None} for name, kind in METADATA_FIELDS]
    options = {"avroSchema": json.dumps(with_fields(writer_schema, fields)), "mode": mode}
    return from_avro(F.expr("substring(value, 6)"), json.dumps(writer_schema), options)


def with_fields(record: Dict[str, Any], fields: List[Dict[str, Any]]) -> Dict[str, Any]:
    """The Avro schema of a record, with other fields: a reader matches records by name, so that stays."""
    return dict({kept: record[kept] for kept in ("type", "name", "namespace") if kept in record}, fields=fields)


def newest(rows: DataFrame, keys: Sequence[str]) -> DataFrame:
    """One row per key, the one with the greatest `_order`."""
    best = "max_by(struct({}), _order) AS row".format(listed(rows.columns))
    return rows.groupBy(*keys).agg(F.expr(best)).select("row.*")
