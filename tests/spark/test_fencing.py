"""Fencing: messages of a replaced generation of the connector arrive after those of the next one."""

import io
import struct
from typing import Any

import fastavro
import pytest
from pyspark.sql import DataFrame, SparkSession

from spark_jobs.events import decode, fencing
from spark_jobs.events.batch import summary
from spark_jobs.events.fencing import StaleGeneration

FIELDS = ("__lsn", "__source_ts_ms", "__run")
WRITER: dict[str, Any] = {
    "type": "record",
    "name": "Value",
    "fields": [{"name": "__op", "type": "string"}, *({"name": name, "type": ["null", "long"]} for name in FIELDS)],
}
NAMELESS = {**WRITER, "fields": WRITER["fields"][:-1]}
SCHEMAS = {3: WRITER, 4: NAMELESS}
MESSAGES = "partition int, offset long, value binary"
READ = "r"


def message(offset: int, run: int | None, op: str = "u", at: int = 1, partition: int = 0) -> tuple[int, int, bytes]:
    """One that was committed at `at` ms."""
    out = io.BytesIO()
    row = {"__op": op, "__lsn": 1, "__source_ts_ms": at, "__run": run}
    writer = 3 if run else 4
    fastavro.schemaless_writer(out, fastavro.parse_schema(SCHEMAS[writer]), row)
    return partition, offset, struct.pack(">bI", 0, writer) + out.getvalue()


def batch(spark: SparkSession, *runs: int | None, first: int = 0) -> DataFrame:
    return spark.createDataFrame([message(first + place, run) for place, run in enumerate(runs)], MESSAGES)


def fenced(messages: DataFrame, known: fencing.Generations) -> tuple[list[int], fencing.Generations]:
    """The offsets that are left, and what is known behind the batch."""
    sender, said = decode.sender(SCHEMAS), summary(messages, SCHEMAS)
    runs = fencing.with_generations_of(messages, sender, known)
    left = fencing.without(messages, sender, fencing.in_batch(fencing.stale_generations(runs), said))
    return sorted(row["offset"] for row in left.collect()), runs


@pytest.mark.parametrize(
    ("firsts", "replaced"),
    [
        ({}, []),
        ({"5": 0}, []),
        ({"5": 0, "9": 40}, [StaleGeneration(2, "5", 40, 60009)]),
        ({"5": 0, "9": 40, "7": 20}, [StaleGeneration(2, "5", 20, 60007), StaleGeneration(2, "7", 40, 60009)]),
        ({"9": 0, "5": 40}, []),  # a clock that is behind, or a first message that came late: nothing tells which
        ({"999": 0, "1000": 3}, [StaleGeneration(2, "999", 3, 61000)]),  # numbers, not texts
    ],
)
def test_a_generation_is_stale_where_one_that_began_later_arrives(
    firsts: fencing.FirstOffsets, replaced: list[StaleGeneration]
) -> None:
    assert fencing.stale_generations({"2": firsts}) == replaced


def test_late_messages_of_a_batch_are_left_out(spark: SparkSession) -> None:
    left, runs = fenced(batch(spark, 5, 5, 9, 5, 9, 5), {})
    assert left == [0, 1, 2, 4]
    assert runs == {"0": {"5": 0, "9": 2}}


def test_late_messages_of_a_later_batch_are_left_out(spark: SparkSession) -> None:
    _, runs = fenced(batch(spark, 5, 9), {})
    assert fenced(batch(spark, 5, 5, first=2), runs) == ([], runs)
    assert fenced(batch(spark, 9, 5, 9, first=2), runs) == ([2, 4], runs)


def test_the_same_messages_again_are_judged_as_before(spark: SparkSession) -> None:
    """After a crash, or when a checkpoint was lost."""
    messages = batch(spark, 5, 9, 5, 9)
    left, runs = fenced(messages, {})
    assert fenced(messages, runs) == (left, runs)


def test_a_snapshot_beside_the_stream_replaces_nothing(spark: SparkSession) -> None:
    """A second connector on a slot that is in use reads the tables, and gets no change."""
    messages = [message(0, 5), message(1, 9, READ), message(2, 5), message(3, 9, READ), message(4, 5)]
    assert fenced(spark.createDataFrame(messages, MESSAGES), {}) == ([0, 1, 2, 3, 4], {"0": {"5": 0}})


def test_late_rows_of_a_snapshot_are_left_out(spark: SparkSession) -> None:
    messages = [message(0, 5), message(1, 9), message(2, 5, READ)]
    left, _ = fenced(spark.createDataFrame(messages, MESSAGES), {})
    assert left == [0, 1]


def test_what_was_committed_long_after_the_next_generation_started_stays(spark: SparkSession) -> None:
    """It came from the source meanwhile, whatever the clocks of the workers say."""
    until = 9 + fencing.SLACK_MS
    messages = [message(0, 5), message(1, 9), message(2, 5, at=until), message(3, 5, at=until + 1)]
    left, _ = fenced(spark.createDataFrame(messages, MESSAGES), {})
    assert left == [0, 1, 3]


def test_partitions_are_told_apart(spark: SparkSession) -> None:
    messages = [message(0, 5), message(1, 9), message(0, 5, partition=1), message(1, 5, partition=1)]
    left, runs = fenced(spark.createDataFrame(messages, MESSAGES), {})
    assert left == [0, 0, 1, 1]
    assert runs == {"0": {"5": 0, "9": 1}, "1": {"5": 0}}


def test_messages_that_name_no_generation_stay(spark: SparkSession) -> None:
    left, runs = fenced(batch(spark, None, 5, None, 9, None), {})
    assert left == [0, 1, 2, 3, 4]
    assert runs == {"0": {"5": 1, "9": 3}}


@pytest.mark.parametrize("value", [b"", b"\x07", b"\x00\x00\x00\x00\x63x", b"\x00\x00\x00\x00\x03\x02", None])
def test_messages_that_cannot_be_decoded_stay(spark: SparkSession, value: bytes | None) -> None:
    """They are for the table writer, which sets them aside or stops in front of them."""
    messages = spark.createDataFrame([message(0, 5), message(1, 9), (0, 2, value)], MESSAGES)
    sender = decode.sender(SCHEMAS)
    runs = fencing.with_generations_of(messages, sender, {})
    assert runs == {"0": {"5": 0, "9": 1}}
    assert fencing.without(messages, sender, fencing.stale_generations(runs)).count() == 3


def test_only_the_last_generations_are_remembered() -> None:
    firsts = {str(run): run for run in range(1, fencing.KEPT + 2)}
    remembered = fencing.remembered({"0": firsts})
    assert list(remembered["0"]) == [str(run) for run in range(2, fencing.KEPT + 2)]


def test_a_batch_without_stale_generations_is_left_alone() -> None:
    messages: Any = object()
    known, summary = {"0": {"5": 0, "9": 5}}, [{"partition": 0, "generations": ["9"], "offset": 7}]
    assert fencing.in_batch(fencing.stale_generations(known), summary) == []
    assert fencing.without(messages, messages, []) is messages
