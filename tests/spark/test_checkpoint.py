"""The batch that a crash broke off."""

from pathlib import Path

import pytest
from pyspark.errors.exceptions.captured import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from spark_jobs.scheduling import checkpoint


def put(folder: Path, *lines: str) -> None:
    for line in lines:
        (folder / line).write_text(line)


def run(spark: SparkSession, folder: Path, kept: Path, fails: bool = False) -> list[tuple[int, list[str]]]:
    """What the batches of a query get, one file each, until there is nothing more."""
    batches = []

    def take(batch: DataFrame, number: int) -> None:
        batches.append((number, sorted(row[0] for row in batch.collect())))
        if fails:
            raise OSError("killed")

    source = spark.readStream.format("text").load(folder.as_uri())
    query = source.writeStream.foreachBatch(take).option("checkpointLocation", kept.as_uri())
    query.trigger(availableNow=True).start().awaitTermination()
    return batches


@pytest.mark.parametrize("first", [[], ["a"]])
def test_the_batch_behind_a_crash_has_what_came_since(spark: SparkSession, tmp_path: Path, first: list[str]) -> None:
    folder, kept = tmp_path / "in", tmp_path / "kept"
    folder.mkdir()
    if first:
        put(folder, *first)
        assert run(spark, folder, kept) == [(0, first)]
    put(folder, "b")
    with pytest.raises(StreamingQueryException, match="killed"):
        run(spark, folder, kept, fails=True)
    put(folder, "c")
    checkpoint.forget_unended(spark, kept.as_uri())
    assert run(spark, folder, kept) == [(len(first), ["b", "c"])]


def test_what_ended_stays(spark: SparkSession, tmp_path: Path) -> None:
    folder, kept = tmp_path / "in", tmp_path / "kept"
    folder.mkdir()
    put(folder, "a")
    run(spark, folder, kept)
    checkpoint.forget_unended(spark, kept.as_uri())
    assert run(spark, folder, kept) == []


def test_a_query_that_never_ran(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint.forget_unended(spark, (tmp_path / "kept").as_uri())
    assert not (tmp_path / "kept").exists()
