"""Change events: Kafka messages in Confluent framing, decoded each with its own writer schema."""

import json
from functools import reduce
from typing import Any, Dict, List, Optional, Sequence, Tuple

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from spark_jobs.events import toast
from spark_jobs.events.flatten import RUN, order
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


def schema_id() -> Column:
    """The writer schema's id out of the 5-byte frame.

    A frame that does not start with 0 gives an id above 2^32, an empty one -1: no registry has them.
    """
    return F.expr("coalesce(cast(conv(hex(substring(value, 1, 5)), 16, 10) as bigint), -1)")


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


def outliving(messages: DataFrame) -> DataFrame:
    """The newest message of each key."""
    newest_first = Window.partitionBy("partition", "key").orderBy(F.desc("offset"))
    ranked = messages.withColumn("age", F.row_number().over(newest_first))
    return ranked.where("age = 1").drop("age")


def since(
    spark: SparkSession,
    kafka: Dict[str, str],
    topic: str,
    begins: Dict[str, int],
    before: Optional[Dict[str, int]] = None,
) -> DataFrame:
    """The messages from an offset of each partition on, to the end of the topic or to those before another offset."""
    options = {
        "assign": json.dumps({topic: [int(partition) for partition in begins]}),
        "startingOffsets": json.dumps({topic: begins}),
        "endingOffsets": json.dumps({topic: before}) if before else "latest",
        "failOnDataLoss": "true",
    }
    return spark.read.format("kafka").options(**kafka).options(**options).load()


def firsts(messages: DataFrame) -> Dict[str, int]:
    """The first offset of each partition."""
    return {str(row[0]): row[1] for row in messages.groupBy("partition").agg(F.min("offset")).collect()}


def parts(messages: DataFrame, size: int) -> List[Tuple[int, int, int]]:
    """Partition, first and last offset of parts of a batch, of about `size` bytes of values each, in their order."""
    sizes = messages.select("partition", "offset", F.coalesce(F.length("value"), F.lit(0)).alias("size"))
    before = "sum(size) OVER (PARTITION BY partition ORDER BY offset) - size"
    cut = sizes.selectExpr("partition", "offset", "({}) DIV {} AS part".format(before, size))
    bounds = cut.groupBy("partition", "part").agg(F.min("offset"), F.max("offset")).collect()
    return sorted((partition, first, last) for partition, _, first, last in bounds)


def ends(messages: DataFrame) -> Dict[str, int]:
    """The next offset of each partition."""
    return {str(row[0]): row[1] + 1 for row in messages.groupBy("partition").agg(F.max("offset")).collect()}


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
