"""DataFrames from texts of SQL."""

from pyspark.sql import SparkSession

from spark_jobs import frames

KEYS = ["", "ж日本😀", "a\r\nb\tc", 'it\'s "so"', "back\\slash", "%s ? {}"]


def test_few_rows_are_what_they_were(spark: SparkSession) -> None:
    rows = [(key, 2**63 - 1 - number) for number, key in enumerate(KEYS)] + [(None, -(2**63))]
    found = frames.few(spark, rows, {"a `key`": "string", "order": "bigint"})
    assert found.columns == ["a `key`", "order"]
    assert [tuple(row) for row in found.collect()] == rows


def test_no_rows_have_types_all_the_same(spark: SparkSession) -> None:
    found = frames.few(spark, [], {"a": "string", "b": "bigint"})
    assert found.dtypes == [("a", "string"), ("b", "bigint")] and found.collect() == []


def test_columns_by_text(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(1, "x")], "`a.b` int, c string")
    found = frames.select(rows, ["*", "concat(c, 'y') AS d"])
    assert (found.columns, [tuple(row) for row in found.collect()]) == (["a.b", "c", "d"], [(1, "x", "xy")])


def test_what_was_computed_is_forgotten(spark: SparkSession) -> None:
    kept = spark.sparkContext._jsc.getPersistentRDDs
    before = set(kept())
    rows = frames.computed(spark.range(3).selectExpr("id * 2 AS id"))
    assert [row[0] for row in rows.collect()] == [0, 2, 4]
    assert len(set(kept()) - before) == 1
    frames.forget(rows)
    assert set(kept()) == before
