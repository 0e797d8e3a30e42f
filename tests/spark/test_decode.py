"""Change events: framing, order, and what is said of a batch."""

import io
import struct
from dataclasses import replace
from typing import Any

import fastavro
import pytest
from pyspark.sql import DataFrame, SparkSession

from spark_jobs.events import decode
from spark_jobs.events.batch import summary
from spark_jobs.events.latest_by_key import latest_by_key
from spark_jobs.kafka.messages import schema_id, split_by_bytes
from tests.source_table import table

Message = tuple[int, int, bytes]  # partition, offset, value
MESSAGES = "partition int, offset long, value binary"


def writer(*fields: tuple[str, Any]) -> dict[str, Any]:
    metadata = [("__op", "string"), ("__lsn", ["null", "long"]), ("__source_ts_ms", ["null", "long"])]
    named = [{"name": name, "type": kind} for name, kind in (*fields, *metadata)]
    return {"type": "record", "name": "Value", "namespace": "lab.public.t", "fields": named}


OLD = writer(("id", "int"), ("name", ["null", "string"]))
WITHOUT_NAME = writer(("id", "int"), ("note", ["null", "string"]))
SCHEMAS = {3: OLD, 9: WITHOUT_NAME}


def message(offset: int, schema_id: int, schema: dict[str, Any], partition: int = 0, **row: Any) -> Message:
    out = io.BytesIO()
    metadata = {"__op": "u", "__lsn": 100 + offset, "__source_ts_ms": 5000 + offset}
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), {**metadata, **row})
    return partition, offset, struct.pack(">bI", 0, schema_id) + out.getvalue()


def batch(spark: SparkSession, *messages: Message) -> DataFrame:
    return spark.createDataFrame(list(messages), MESSAGES)


@pytest.mark.parametrize(
    ("epoch", "offset", "order"),
    [(0, 5, 5), (3, 5, 844424930131973), (32767, 2**48 - 1, 9223372036854775807)],
)
def test_order_is_the_life_of_the_topic_then_the_offset(
    spark: SparkSession, epoch: int, offset: int, order: int
) -> None:
    rows = decode.Decoder(OLD, replace(table(), epoch=epoch)).rows(
        batch(spark, message(offset, 3, OLD, id=1, name=None))
    )
    assert rows.schema["_order"].dataType.simpleString() == "bigint"
    assert [row["_order"] for row in rows.collect()] == [order]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (b"\x00\x00\x00\x01\x02rest", 258),
        (b"\x00\xff\xff\xff\xff", 4294967295),
        (b"\x01\x00\x00\x00\x03rest", 4294967299),  # another magic byte: no id that a registry knows
        (b"", -1),
    ],
)
def test_schema_id_of_a_frame(spark: SparkSession, value: bytes, found: int) -> None:
    rows = batch(spark, (0, 0, value)).select(schema_id().alias("id")).collect()
    assert [row["id"] for row in rows] == [found]


def test_summary_asks_for_unknown_ids_first(spark: SparkSession) -> None:
    messages = batch(spark, message(4, 3, OLD, id=1, name="a"), message(5, 9, WITHOUT_NAME, id=2, note="n"))
    (found,) = summary(messages, {})
    assert (sorted(found["ids"]), found["offset"], found["lsn"], found["changes"]) == ([3, 9], 5, None, 0)


def test_summary_per_partition(spark: SparkSession) -> None:
    messages = batch(
        spark,
        message(4, 3, OLD, id=1, name="a", __lsn=900, __op="r", __source_ts_ms=1),
        message(5, 3, OLD, id=2, name="b", __lsn=700, __source_ts_ms=2000),
        message(6, 9, WITHOUT_NAME, id=3, note="n", __lsn=800, __source_ts_ms=3000),
        message(9, 3, OLD, partition=1, id=4, name="d", __lsn=None, __source_ts_ms=None),
    )
    first, second = sorted(summary(messages, SCHEMAS), key=lambda row: row["partition"])
    assert (sorted(first["ids"]), first["offset"], first["messages"], first["lsn"]) == ([3, 9], 6, 3, 900)
    assert first["changes"] == 2  # the row of the snapshot was committed long before it was read
    assert (first["committed_ms"][0], first["committed_ms"][-1]) == (2000, 3000)
    assert (second["ids"], second["offset"], second["lsn"], second["committed_ms"]) == ([3], 9, None, None)


def test_parts_of_a_batch_are_cut_by_the_bytes_of_its_values(spark: SparkSession) -> None:
    sizes = {(0, 3): b"abc", (0, 4): b"abc", (0, 7): b"a" * 50, (0, 8): b"", (0, 9): None, (1, 2): b"a"}
    messages = spark.createDataFrame([(*place, value) for place, value in sizes.items()], MESSAGES)
    assert sum(row["bytes"] for row in summary(messages, {})) == 57
    assert split_by_bytes(messages, 100) == [(0, 3, 9), (1, 2, 2)]
    assert split_by_bytes(messages, 6) == [(0, 3, 4), (0, 7, 7), (0, 8, 9), (1, 2, 2)]


@pytest.mark.parametrize("tasks", [1, 3, 8])
def test_newest_is_the_last_in_the_topic_however_it_is_shuffled(spark: SparkSession, tasks: int) -> None:
    """F4: all changes of one transaction have one commit time, and LSNs that need not rise (F1)."""
    rows = [(key, turn, 5000, 900 - turn, f"v{turn}" if turn else None) for key in range(40) for turn in range(6)]
    shuffled = spark.createDataFrame(rows[::-1], "id int, _order long, __source_ts_ms long, __lsn long, v string")
    found = latest_by_key(shuffled.repartition(tasks, "_order"), ["id"])
    assert found.columns == shuffled.columns
    assert {tuple(row) for row in found.collect()} == {(key, 5, 5000, 895, "v5") for key in range(40)}


def test_newest_takes_the_null_of_the_last_row(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(1, "a", 7, "old"), (1, "a", 8, None)], "k1 int, k2 string, _order long, v string")
    assert [tuple(row) for row in latest_by_key(rows, ["k1", "k2"]).collect()] == [(1, "a", 8, None)]
