"""Totals of sales, and the messages that they are made of: DataFrame to DataFrame."""

import json
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lake.config.environment import PROJECT
from spark_jobs.kafka.schema_registry import Registry, UnknownSchema
from spark_jobs.sales import producers, results, totals
from spark_jobs.sales.formats import AvroFormat, JsonFormat
from spark_jobs.sales.schema import SALE, TOTAL, sale_avro

FOLDER = PROJECT / "data" / "sales"
AT = "2026-11-28 12:03:00"


@pytest.fixture(scope="module")
def seed(spark: SparkSession) -> DataFrame:
    """The seed, each sale sent at the same time."""
    sales = producers.parsed((FOLDER / "sales_seed.csv").read_text(), "sales_seed.csv")
    dated = producers.just_sold(sales, datetime.fromisoformat(f"{AT}+00:00"))
    return producers.as_rows(spark, dated).withColumn("timestamp", F.lit(AT).cast("timestamp")).cache()


@pytest.fixture(scope="module")
def regions(spark: SparkSession) -> DataFrame:
    return spark.read.csv(str(FOLDER / "sales_regions.csv"), header=True)


def rows(found: DataFrame) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in found.collect()]


def test_totals_are_exact(seed: DataFrame) -> None:
    found = rows(totals.largest_first(totals.by_country(seed)))
    assert len(found) == 68
    assert found[:2] == [("India", Decimal("138.80"), 20), ("China", Decimal("133.80"), 20)]
    assert found[24] == ("Peru", Decimal("19.98"), 2)


def test_a_country_without_a_region_is_unassigned(spark: SparkSession) -> None:
    sales = spark.createDataFrame([("Iran", 1.0), ("Peru", 2.0)], "country string, amount double")
    places = spark.createDataFrame([("Peru", "Latin America")], "country string, region string")
    found = {row["country"]: row["region"] for row in totals.with_region(sales, places).collect()}
    assert found == {"Iran": "Unassigned", "Peru": "Latin America"}


def test_each_sale_is_in_two_windows(seed: DataFrame, regions: DataFrame) -> None:
    found = totals.by_region_and_window(seed, regions)
    starts = {
        row["window_start"]: row["orders"]
        for row in found.groupBy("window_start").agg(F.sum("orders").alias("orders")).collect()
    }
    assert starts == {datetime(2026, 11, 28, 11, 55): 250, datetime(2026, 11, 28, 12, 0): 250}
    assert rows(totals.by_country_and_window(seed).selectExpr("sum(orders)")) == [(500,)]


def test_the_newest_message_counts_and_not_the_greatest_text(spark: SparkSession) -> None:
    sent = [("India", "948.63", 1), ("India", "1338.10", 7), ("Peru", "9.00", 3)]
    found = totals.newest(spark.createDataFrame(sent, "country string, sales string, offset long"), "country")
    assert sorted(rows(found)) == [("India", "1338.10", 7), ("Peru", "9.00", 3)]


def test_the_order_of_equal_sales_is_that_of_their_names(spark: SparkSession) -> None:
    found = spark.createDataFrame([("b", 1), ("a", 1), ("c", 2)], "country string, sales int")
    assert [row[0] for row in totals.largest_first(found).collect()] == ["c", "a", "b"]


def received(messages: DataFrame) -> DataFrame:
    """Messages as Kafka gives them back."""
    values = messages.selectExpr("CAST(key AS binary) AS key", "CAST(value AS binary) AS value")
    return values.withColumn("timestamp", F.lit(AT).cast("timestamp")).withColumn("offset", F.lit(7))


def test_json_there_and_back(spark: SparkSession, seed: DataFrame) -> None:
    form = JsonFormat(SALE)
    messages = form.messages(seed.drop("timestamp"), F.col("payment_id"))
    assert messages.first()["key"] == "16940"
    assert json.loads(messages.first()["value"])["amount"] == 5.99
    assert rows(form.rows(received(messages)).drop("timestamp", "offset")) == rows(seed.drop("timestamp"))


def test_a_value_that_is_no_sale_stops_the_job(spark: SparkSession) -> None:
    broken = {"no sale": "Malformed records", '{"country": "Peru"}': "no sales in the message at offset 7"}
    for value, reason in broken.items():
        message = spark.createDataFrame([("1", value)], "key string, value string")
        with pytest.raises(Exception, match=reason):
            JsonFormat(TOTAL).rows(received(message)).collect()


class OneTopic(Registry):
    """A registry that holds the schemas of one topic."""

    def __init__(self) -> None:
        super().__init__("http://nowhere")
        self.kept: dict[int, dict[str, Any]] = {3: {"type": "int"}, 70000: sale_avro("t")["value"]}

    def by_id(self, subject: str) -> dict[int, dict[str, Any]]:
        return {id: schema for id, schema in self.kept.items() if schema["type"] == "record"}

    def id_of(self, subject: str, schema: dict[str, Any]) -> int:
        found = [id for id, one in self.kept.items() if one == schema]
        if not found:
            raise UnknownSchema(subject)
        return found[0]


def test_avro_there_and_back_in_its_frame(seed: DataFrame) -> None:
    form = AvroFormat(OneTopic(), "t", sale_avro("t"))
    messages = form.messages(seed.drop("timestamp"), F.col("customer_id"))
    first = messages.first()
    assert (bytes(first["key"][:5]), bytes(first["value"][:5])) == (b"\0\0\0\0\x03", b"\0\x00\x01\x11\x70")
    assert rows(form.rows(received(messages)).drop("timestamp", "offset")) == rows(seed.drop("timestamp"))


def test_a_schema_of_another_topic_stops_the_job(seed: DataFrame) -> None:
    registry = OneTopic()
    form = AvroFormat(registry, "t", sale_avro("t"))
    messages = received(form.messages(seed.drop("timestamp"), F.col("customer_id")))
    registry.kept[5] = registry.kept.pop(70000)
    with pytest.raises(Exception, match="no schema of t has the id 70000"):
        form.rows(messages).collect()


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_batch_that_comes_again_replaces_its_folder(spark: SparkSession, tmp_path: Any, form: str) -> None:
    totals_of = [spark.createDataFrame([("a", n)], "country string, sales int") for n in range(3)]
    write = results.keep_each(tmp_path.as_uri(), form)
    (tmp_path / "batch=000000009").mkdir()
    write(totals_of[0], 0)  # the first batch of a stream: what is there is of another one
    write(totals_of[1], 1)
    write(totals_of[2], 1)
    read = spark.read.format(form).options(**results.FORMATS[form]).load(tmp_path.as_uri())
    assert sorted((row["batch"], int(row["sales"])) for row in read.collect()) == [(0, 0), (1, 2)]
