"""Messages of a topic as Spark reads them: a range of offsets, its parts, and the schema id in each value's frame."""

import json
from typing import Dict, List, Optional, Tuple

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

Offsets = Dict[str, int]  # by partition
DECLARED_ID = 0  # in the frames that messages of JSON get


def read_range(
    spark: SparkSession,
    kafka: Dict[str, str],
    topic: str,
    begins: Offsets,
    before: Optional[Offsets] = None,
    *,
    is_json: bool = False,
    options: Optional[Dict[str, str]] = None,
) -> DataFrame:
    """The messages from an offset of each partition on, to the end of the topic or to those before another offset.

    options: others of Spark's Kafka source
    """
    options = {
        **(options or {}),
        "assign": json.dumps({topic: [int(partition) for partition in begins]}),
        "startingOffsets": json.dumps({topic: begins}),
        "endingOffsets": json.dumps({topic: before}) if before else "latest",
        "failOnDataLoss": "true",
    }
    return _in_frames(spark.read.format("kafka").options(**kafka).options(**options).load(), is_json)


def read_stream(
    spark: SparkSession, kafka: Dict[str, str], topic: str, *, is_json: bool = False, **options: str
) -> DataFrame:
    """The messages of a topic from its first one on, as a stream; options of Spark's Kafka source."""
    reader = spark.readStream.format("kafka").options(**kafka).options(**options)
    found = reader.options(subscribe=topic, startingOffsets="earliest", failOnDataLoss="true").load()
    return _in_frames(found, is_json)


def _in_frames(messages: DataFrame, is_json: bool) -> DataFrame:
    """JSON gets frames as Avro has them, so that all that follows takes both."""
    frame = F.lit(b"\x00" + DECLARED_ID.to_bytes(4, "big"))
    return messages.withColumn("value", F.concat(frame, "value")) if is_json else messages


def start_offsets(messages: DataFrame) -> Offsets:
    """The first offset of each partition."""
    return {str(row[0]): row[1] for row in messages.groupBy("partition").agg(F.min("offset")).collect()}


def end_offsets(messages: DataFrame) -> Offsets:
    """The next offset of each partition."""
    return {str(row[0]): row[1] + 1 for row in messages.groupBy("partition").agg(F.max("offset")).collect()}


def split_by_bytes(messages: DataFrame, size: int) -> List[Tuple[int, int, int]]:
    """Partition, first and last offset of parts of a batch, of about `size` bytes of values each, in their order."""
    sizes = messages.select("partition", "offset", F.coalesce(F.length("value"), F.lit(0)).alias("size"))
    before = "sum(size) OVER (PARTITION BY partition ORDER BY offset) - size"
    cut = sizes.selectExpr("partition", "offset", "({}) DIV {} AS part".format(before, size))
    bounds = cut.groupBy("partition", "part").agg(F.min("offset"), F.max("offset")).collect()
    return sorted((partition, first, last) for partition, _, first, last in bounds)


def latest_message_per_key(messages: DataFrame) -> DataFrame:
    """The newest message of each key. One without a key is about a row of its own."""
    own = F.when(F.col("key").isNull(), F.col("offset"))
    return newest_by(messages.withColumn("own", own), "partition", "key", "own").drop("own")


def newest_by(messages: DataFrame, *names: str) -> DataFrame:
    """Of the messages with equal values in these columns, the one with the greatest offset.

    They must be in one partition.
    """
    newest_first = Window.partitionBy(*names).orderBy(F.desc("offset"))
    ranked = messages.withColumn("age", F.row_number().over(newest_first))
    return ranked.where("age = 1").drop("age")


def schema_id() -> Column:
    """The writer schema's id out of the 5-byte frame.

    A frame that does not start with 0 gives an id above 2^32, an empty one -1: no registry has them.
    """
    return F.expr("coalesce(cast(conv(hex(substring(value, 1, 5)), 16, 10) as bigint), -1)")
