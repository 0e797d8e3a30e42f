"""Change events: Kafka messages in Confluent framing, decoded each with its own writer schema."""

import json
from functools import reduce
from typing import Any, Dict, List

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from spark_jobs.type_map import lake_columns

EPOCH_SIZE = 2**48  # offsets of one life of a topic; _order = epoch * EPOCH_SIZE + offset (correctness F5)
QUANTILES = [index / 20.0 for index in range(21)]
Schemas = Dict[int, Dict[str, Any]]


def schema_id() -> Column:
    """The writer schema's id out of the 5-byte frame.

    A frame that does not start with 0 gives an id above 2^32, an empty one -1: no registry has them.
    """
    return F.expr("coalesce(cast(conv(hex(substring(value, 1, 5)), 16, 10) as bigint), -1)")


def decode(messages: DataFrame, schemas: Schemas, epoch: int) -> DataFrame:
    """One row per message in lake types, plus `_order`; columns that a writer did not have are null.

    messages: value binary, offset long (other columns are ignored). schemas: every id in the messages.
    """
    parts = [_decode_one(messages, schemas, writer, epoch) for writer in sorted(schemas)]
    return reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), parts)


def _decode_one(messages: DataFrame, schemas: Schemas, writer: int, epoch: int) -> DataFrame:
    mine = messages if len(schemas) == 1 else messages.where(schema_id() == writer)
    row = from_avro(F.expr("substring(value, 6)"), json.dumps(schemas[writer]))
    order = (F.lit(epoch * EPOCH_SIZE) + F.col("offset")).alias("_order")
    return mine.select(row.alias("row"), order).select(*lake_columns(schemas[writer], F.col("row")), "_order")


def summary(messages: DataFrame, schemas: Schemas) -> List[Any]:
    """One Row per Kafka partition of a batch: schema ids, last offset, greatest LSN, quantiles of commit times.

    What needs decoding is taken from messages whose schema is in `schemas`; ask again once all ids are known.
    Commit times (ms) leave out snapshot rows, which were committed long before they were read.
    """
    lsn = _metadata(schemas, "__lsn", "bigint")
    streamed = _metadata(schemas, "__op", "string") != "r"
    committed = F.when(streamed, _metadata(schemas, "__source_ts_ms", "bigint"))
    fields = messages.select("partition", "offset", schema_id().alias("id"), lsn.alias("lsn"), committed.alias("ms"))
    return (
        fields.groupBy("partition")
        .agg(
            F.collect_set("id").alias("ids"),
            F.max("offset").alias("offset"),
            F.count(F.lit(1)).alias("messages"),
            F.max("lsn").alias("lsn"),
            F.count("ms").alias("changes"),
            F.percentile_approx("ms", QUANTILES, 1000).alias("committed_ms"),
        )
        .collect()
    )


def _metadata(schemas: Schemas, field: str, kind: str) -> Column:
    known = [
        F.when(
            schema_id() == writer,
            from_avro(F.expr("substring(value, 6)"), json.dumps(schemas[writer]))[field],
        )
        for writer in sorted(schemas)
    ]
    return F.coalesce(*known).cast(kind) if known else F.lit(None).cast(kind)
