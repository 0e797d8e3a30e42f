"""Fencing: what a replaced run of the connector sent arrives behind the run that replaced it."""

import io
import struct
from types import SimpleNamespace
from typing import Any

import fastavro
import pytest
from pyspark.sql import DataFrame, SparkSession

from spark_jobs import changes, fencing
from spark_jobs.fencing import Zombie

FIELDS = ("__lsn", "__source_ts_ms", "__run")
WRITER = {
    "type": "record",
    "name": "Value",
    "fields": [{"name": "__op", "type": "string"}, *({"name": name, "type": ["null", "long"]} for name in FIELDS)],
}
NAMELESS = {**WRITER, "fields": WRITER["fields"][:-1]}
SCHEMAS = {3: WRITER, 4: NAMELESS}


def message(offset: int, run: int | None, partition: int = 0) -> tuple[int, int, bytes]:
    out = io.BytesIO()
    row = {"__op": "u", "__lsn": 1, "__source_ts_ms": 1, "__run": run}
    writer = 3 if run else 4
    fastavro.schemaless_writer(out, fastavro.parse_schema(SCHEMAS[writer]), row)
    return partition, offset, struct.pack(">bI", 0, writer) + out.getvalue()


def batch(spark: SparkSession, *runs: int | None, first: int = 0) -> DataFrame:
    messages = [message(first + place, run) for place, run in enumerate(runs)]
    return spark.createDataFrame(messages, "partition int, offset long, value binary")


def fenced(messages: DataFrame, known: dict[str, fencing.Firsts]) -> tuple[list[int], dict[str, fencing.Firsts]]:
    """The offsets that are left, and what is known behind the batch."""
    run, summary = changes.run(SCHEMAS), changes.summary(messages, SCHEMAS)
    runs = fencing.runs(messages, run, known, summary)
    left = fencing.without(messages, run, fencing.zombies(runs, summary))
    return sorted(row["offset"] for row in left.collect()), runs


@pytest.mark.parametrize(
    ("firsts", "ends"),
    [
        ({}, {}),
        ({"5": 0}, {}),
        ({"5": 0, "9": 40}, {"5": 40}),
        ({"5": 0, "9": 40, "7": 20}, {"5": 20, "7": 40}),
        ({"9": 0, "5": 40}, {}),  # a clock that is behind, or a first message that came late: nothing tells which
        ({"999": 0, "1000": 3}, {"999": 3}),  # numbers, not texts
    ],
)
def test_a_run_ends_where_one_that_began_later_arrives(firsts: fencing.Firsts, ends: fencing.Firsts) -> None:
    assert fencing.ends(firsts) == ends


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


def test_partitions_are_told_apart(spark: SparkSession) -> None:
    messages = spark.createDataFrame(
        [message(0, 5), message(1, 9), message(0, 5, partition=1), message(1, 5, partition=1)],
        "partition int, offset long, value binary",
    )
    left, runs = fenced(messages, {})
    assert left == [0, 0, 1, 1]
    assert runs == {"0": {"5": 0, "9": 1}, "1": {"5": 0}}


def test_messages_that_name_no_run_stay(spark: SparkSession) -> None:
    left, runs = fenced(batch(spark, None, 5, None, 9, None), {})
    assert left == [0, 1, 2, 3, 4]
    assert runs == {"0": {"5": 1, "9": 3}}


def test_only_the_last_runs_are_remembered(spark: SparkSession) -> None:
    known = {"0": {str(run): run for run in range(1, 11)}}
    _, runs = fenced(batch(spark, 20, first=30), known)
    assert runs == {"0": {**{str(run): run for run in range(2, 11)}, "20": 30}}


def test_a_batch_without_a_new_run_is_not_read_for_its_runs() -> None:
    messages: Any = SimpleNamespace()  # nothing may be asked of it
    known, summary = {"0": {"5": 0}}, [{"partition": 0, "runs": ["5"], "offset": 7}]
    assert fencing.runs(messages, messages, known, summary) is known
    assert fencing.without(messages, messages, fencing.zombies(known, summary)) is messages


def test_a_zombie_says_what_it_is() -> None:
    said = "what run 5 of the connector sent to partition 2 from offset 40 on: it was over"
    assert str(Zombie(2, "5", 40)) == said
