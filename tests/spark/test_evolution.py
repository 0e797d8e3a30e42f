"""Schema changes: what flows into a table, and what stops it with a name."""

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from spark_jobs.events.schema_evolution import SchemaRefused, fit, required_fields

TABLE = "id int, amount int, name string, _order bigint"


def stored(spark: SparkSession, columns: str = TABLE) -> StructType:
    return spark.createDataFrame([], columns).schema


def rows(spark: SparkSession, columns: str, *values: tuple[Any, ...]) -> DataFrame:
    return spark.createDataFrame(list(values), columns)


def test_the_first_batch_makes_the_table(spark: SparkSession) -> None:
    first = rows(spark, TABLE, (1, 2, "a", 0))
    assert fit(first, StructType([]), ["gone"], "lab_mor.t") is first


def test_a_new_column_goes_last(spark: SparkSession) -> None:
    arriving = rows(spark, "id int, fresh string, amount int, name string, _order bigint", (1, "f", 2, "a", 9))
    fitted = fit(arriving, stored(spark), ["id"], "lab_mor.t")
    assert fitted.columns == ["id", "amount", "name", "_order", "fresh"]
    assert [tuple(row) for row in fitted.collect()] == [(1, 2, "a", 9, "f")]


def test_a_nullable_column_that_is_gone_is_null(spark: SparkSession) -> None:
    fitted = fit(rows(spark, "id int, amount int, _order bigint", (1, 2, 9)), stored(spark), ["id"], "lab_mor.t")
    assert fitted.columns == ["id", "amount", "name", "_order"]
    assert [tuple(row) for row in fitted.collect()] == [(1, 2, None, 9)]
    assert dict(fitted.dtypes)["name"] == "string"


def test_a_required_column_that_is_gone_stops_the_table(spark: SparkSession) -> None:
    arriving = rows(spark, "id int, name string, _order bigint", (1, "a", 9))
    with pytest.raises(SchemaRefused, match=r"lab_mor\.t: NOT NULL column amount was dropped"):
        fit(arriving, stored(spark), ["id", "amount"], "lab_mor.t")


@pytest.mark.parametrize(
    ("before", "after"),
    [("int", "string"), ("string", "int"), ("int", "decimal(10,2)"), ("date", "timestamp"), ("bigint", "double")],
)
def test_a_column_of_another_type_stops_the_table(spark: SparkSession, before: str, after: str) -> None:
    arriving = rows(spark, f"id int, amount {after}")
    with pytest.raises(SchemaRefused) as refused:
        fit(arriving, stored(spark, f"id int, amount {before}"), [], "lab_cow.t")
    assert f"lab_cow.t: column amount is {before} in the lake and arrives as {after}" in str(refused.value)


def test_int_widens_to_bigint(spark: SparkSession) -> None:
    arriving = rows(spark, "id int, amount bigint, name string, _order bigint", (1, 2**40, "a", 9))
    fitted = fit(arriving, stored(spark), [], "lab_mor.t")
    assert dict(fitted.dtypes)["amount"] == "bigint"
    assert [row["amount"] for row in fitted.collect()] == [1099511627776]


def test_an_older_writer_stays_wide(spark: SparkSession) -> None:
    arriving = rows(spark, "id int, amount int", (1, 7))
    fitted = fit(arriving, stored(spark, "id int, amount bigint"), [], "lab_mor.t")
    assert dict(fitted.dtypes)["amount"] == "bigint"
    assert [row["amount"] for row in fitted.collect()] == [7]


def test_required_fields() -> None:
    fields = [
        {"name": "id", "type": "int"},
        {"name": "amount", "type": {"type": "int", "connect.default": 0}, "default": 0},
        {"name": "name", "type": ["null", "string"]},
        {"name": "kind", "type": ["string", "null"], "default": "x"},
    ]
    assert required_fields({"type": "record", "name": "Value", "fields": fields}) == ["id", "amount"]
