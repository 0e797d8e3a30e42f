"""Silver's pure parts: keys that can't collide, deletes that erase, what is said of a batch."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from spark_jobs.pipeline import Table
from spark_jobs.silver import committed_ms, erase_deleted, ids_of, with_record_key

COLUMNS = (
    "id int, region string, name string, _secret string, __op string, __lsn bigint, __deleted string, _order bigint"
)
LIVE = (1, "north", "Ada", "s1", "u", 10, "false", 7)
GONE = (2, "south", "Bob", "s2", "d", 11, "true", 8)


def table(keys: tuple[str, ...] = ("id",), delete: str = "soft", partition: Any = None) -> Table:
    return Table(
        database="lab",
        schema="public",
        table="t",
        topic="lab.public.t",
        epoch=0,
        keys=keys,
        partition=partition,
        delete=delete,
        replica_identity="full",
        targets=(),
    )


def test_soft_delete_keeps_the_data(spark: SparkSession) -> None:
    rows = spark.createDataFrame([LIVE, GONE], COLUMNS)
    assert [tuple(row) for row in erase_deleted(rows, table()).collect()] == [LIVE, GONE]


def test_hard_delete_erases_the_data_and_keeps_the_tombstone(spark: SparkSession) -> None:
    rows = erase_deleted(spark.createDataFrame([LIVE, GONE], COLUMNS), table(delete="hard", partition="region"))
    assert rows.columns == [column.split()[0] for column in COLUMNS.split(", ")]
    assert [tuple(row) for row in rows.collect()] == [LIVE, (2, "south", None, None, "d", 11, "true", 8)]


# Each pair would be one key if the values were joined with ',' and named with ':', as Hudi does.
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a,k2:b", "c"), ("a", "b,k2:c")),
        (('a","b', "c"), ("a", 'b","c')),
        (("a\\", "b"), ("a", "\\b")),
        (("", "a"), ("a", "")),
        (("é", "x"), ("e\u0301", "x")),
        (("1", "1"), ("11", "")),
        (("null", "a"), ('"null"', "a")),
    ],
)
def test_composite_keys_do_not_collide(spark: SparkSession, one: tuple[str, str], other: tuple[str, str]) -> None:
    rows = spark.createDataFrame([one, other], "k1 string, k2 string")
    keys = [row["_key"] for row in with_record_key(rows, table(("k1", "k2"))).collect()]
    assert keys[0] != keys[1]


def test_composite_key_is_an_array_in_the_order_of_the_definition(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(7, "ключ,:")], "n int, name string")
    assert [row["_key"] for row in with_record_key(rows, table(("name", "n"))).collect()] == ['["ключ,:","7"]']


def test_a_single_key_needs_no_column_of_its_own(spark: SparkSession) -> None:
    rows = spark.createDataFrame([LIVE], COLUMNS)
    assert with_record_key(rows, table()).columns == rows.columns


def test_what_is_said_of_a_batch() -> None:
    summary = [
        {"ids": [3, 9], "changes": 1, "committed_ms": [50, 60]},
        {"ids": [3], "changes": 4, "committed_ms": [10, 20]},
        {"ids": [4], "changes": 0, "committed_ms": None},
    ]
    assert ids_of(summary) == {3, 4, 9}
    assert committed_ms(summary) == [10, 20]
    assert committed_ms(summary[2:]) == []
