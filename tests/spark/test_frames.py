"""DataFrames from texts of SQL."""

from pyspark.sql import SparkSession

from spark_jobs.runtime import frames
from spark_jobs.runtime.sql_text import identifier

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


def test_columns_by_text_are_one_step_of_the_plan(spark: SparkSession) -> None:
    """Hudi's rules go through all steps below each step, again with each one: two for one took half as long again."""
    rows = spark.range(1)
    steps = [str(one._jdf.queryExecution().analyzed()).count("Project") for one in (rows, frames.select(rows, ["*"]))]
    assert steps == [0, 1]


def test_names_of_any_characters(spark: SparkSession) -> None:
    names = [key or "-" for key in KEYS]
    found = frames.select(spark.range(1), [f"1 AS {identifier(name)}" for name in names])
    assert found.columns == names


def test_what_was_computed_is_forgotten(spark: SparkSession) -> None:
    kept = spark.sparkContext._jsc.getPersistentRDDs
    before = set(kept())
    rows = frames.computed(spark.range(3).selectExpr("id * 2 AS id"))
    assert [row[0] for row in rows.collect()] == [0, 2, 4]
    assert len(set(kept()) - before) == 1
    frames.forget(rows)
    assert set(kept()) == before
