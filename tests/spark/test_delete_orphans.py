"""Which rows are orphans, and what becomes of them."""

from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

from spark_jobs.hudi.delete_orphans import bound_of, orphans, tombstones
from tests.source_table import table
from tests.spark.test_decode_and_fit import COLUMNS, GONE, LIVE

NEW = (3, "east", "Eve", "s3", "c", 12, "false", 9)


def test_old_live_rows_are_orphans(spark: SparkSession) -> None:
    rows = spark.createDataFrame([LIVE, GONE, NEW], COLUMNS)
    assert [row["id"] for row in orphans(rows, 9).collect()] == [1]
    assert [row["id"] for row in orphans(rows, 7).collect()] == []


@pytest.mark.parametrize(
    ("delete", "identity", "kept"),
    [
        ("soft", "full", ("north", "Ada", "s1")),
        ("hard", "full", ("north", None, None)),
        ("soft", "default", (None, None, None)),
    ],
)
def test_an_orphan_is_deleted_as_its_table_wants_it(
    spark: SparkSession, delete: str, identity: str, kept: tuple[str | None, ...]
) -> None:
    stored = spark.createDataFrame([LIVE], COLUMNS)
    rows = tombstones(stored, table(delete=delete, partition="region", identity=identity))
    assert [tuple(row) for row in rows.collect()] == [(1, *kept, "d", 10, "true", 8)]


def test_columns_stay_as_they_are_stored(spark: SparkSession) -> None:
    stored = spark.createDataFrame([LIVE], COLUMNS)
    assert tombstones(stored, table()).schema == stored.schema


def test_without_a_key_everything_before_the_new_snapshot_is_an_orphan(spark: SparkSession) -> None:
    """The former capture sends on until it is stopped: rows that the snapshot has, too."""
    sent = [("c", 6), ("c", 8), ("r", 9), ("r", 10), ("c", 11)]
    rows = spark.createDataFrame(sent, "__op string, _order long")
    keyless = replace(table(), without_key="append")
    assert [bound_of(rows, 7, one) for one in (table(), keyless)] == [7, 9]
    assert bound_of(rows, 12, keyless) == 12
