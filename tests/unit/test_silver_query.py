"""What the query of a table does with its batches."""

from argparse import Namespace
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from spark_jobs.hudi.table import Oversized
from spark_jobs.runtime.status import Progress
from spark_jobs.streaming import table_query


class Writing:
    """A guard that notes the offsets that it wrote; more than `limit` bytes are refused."""

    def __init__(self) -> None:
        self.silver = Namespace(name="lab_mor.t", table=Namespace(topic="lab.public.t"))
        self.wrote: list[list[int]] = []

    def write(self, batch: DataFrame, progress: Progress, limit: int | None = None) -> None:
        rows = batch.collect()
        if limit is not None and sum(len(row["value"]) for row in rows) > limit:
            raise Oversized("too many")
        self.wrote.append([row["offset"] for row in rows])


@pytest.fixture
def topic(spark: SparkSession) -> DataFrame:
    """Five messages of 40 bytes, at every second offset from 10, and one of 200."""
    rows = [(0, 10 + 2 * place, b"a" * (200 if place == 5 else 40)) for place in range(6)]
    return spark.createDataFrame(rows, "partition int, offset long, value binary")


@pytest.mark.parametrize(
    ("size", "written"),
    [(400, [[10, 12, 14, 16, 18, 20]]), (399, [[10, 12, 14, 16, 18, 20]]), (80, [[10, 12], [14, 16], [18, 20]])],
)
def test_a_batch_is_written_in_parts_when_it_has_too_many_bytes(
    spark: SparkSession, topic: DataFrame, monkeypatch: pytest.MonkeyPatch, size: int, written: list[list[int]]
) -> None:
    def since(spark: Any, kafka: Any, name: str, begins: dict[str, int], before: dict[str, int]) -> DataFrame:
        assert (name, list(begins), list(before)) == ("lab.public.t", ["0"], ["0"])
        return topic.where(f"offset >= {begins['0']} AND offset < {before['0']}")

    monkeypatch.setattr(table_query, "PART_BYTES", size)
    monkeypatch.setattr(table_query, "read_range", since)
    writing: Any = Writing()
    other: Any = Namespace(kafka={})
    query = table_query.SilverQuery(spark, other, other, writing, Progress(), other)
    query._write(topic, size)
    assert writing.wrote == written


def test_a_gap_is_looked_for_once_before_the_first_batch() -> None:
    """Not at the start, which runs in the thread that keeps all tables: a Kafka that is away would hold it up."""
    asked: list[Any] = []
    broker: Any = Namespace(topic=lambda name: name, offsets=lambda name: Namespace(begin={0: 7}))
    guard: Any = Namespace(silver=Namespace(read_from=asked.append, refuse_gap=asked.append))
    other: Any = None
    query = table_query.SilverQuery(other, other, broker, guard, Progress(), other)
    for _ in range(2):
        query._read_from("lab.public.t")
    assert asked == ["lab.public.t", {0: 7}, "lab.public.t"]
