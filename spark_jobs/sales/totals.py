"""Totals of sales: DataFrame to DataFrame, the same for a batch and for a stream."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_jobs.kafka.messages import newest_by
from spark_jobs.sales.schema import MONEY

WATERMARK = "10 minutes"
WINDOW, SLIDE = "10 minutes", "5 minutes"  # each sale is in two windows
UNASSIGNED = "Unassigned"


def by_country(sales: DataFrame) -> DataFrame:
    """country, sales (the money), orders (how many)."""
    return _totals(sales, F.col("country"))


def by_region(sales: DataFrame, regions: DataFrame) -> DataFrame:
    """region, sales, orders. A country without a region is Unassigned."""
    return _totals(with_region(sales, regions), F.col("region"))


def by_country_and_window(sales: DataFrame) -> DataFrame:
    """country, sales, orders, window_start, window_end."""
    return _in_windows(sales, "country")


def by_region_and_window(sales: DataFrame, regions: DataFrame) -> DataFrame:
    """region, sales, orders, window_start, window_end."""
    return _in_windows(with_region(sales, regions), "region")


def with_region(sales: DataFrame, regions: DataFrame) -> DataFrame:
    """The sales with the region of their country. regions: country, region; each country once."""
    joined = sales.join(F.broadcast(regions), "country", "left")
    return joined.withColumn("region", F.coalesce("region", F.lit(UNASSIGNED)))


def newest(messages: DataFrame, *names: str) -> DataFrame:
    """Of the messages with equal values in these columns, the one with the greatest offset.

    They must have the same key in Kafka, so that they are in one partition. The greatest total is not the newest one
    when a producer is started again on new topics, and as a text it is wrong at once ("948.63" > "1338.10").
    """
    return newest_by(messages, *names)


def largest_first(totals: DataFrame) -> DataFrame:
    """The newest window first, if there are windows, and in it the largest sales. The order is always the same."""
    name = totals.columns[0]
    windows = [F.desc("window_start")] if "window_start" in totals.columns else []
    return totals.orderBy(*windows, F.desc("sales"), F.col(name))


def _in_windows(sales: DataFrame, name: str) -> DataFrame:
    """The time is that of the message: when the sale was sent."""
    moved = sales.withWatermark("timestamp", WATERMARK)
    found = _totals(moved, F.col(name), F.window("timestamp", WINDOW, SLIDE))
    edges = [F.col("window.{}".format(edge)).alias("window_{}".format(edge)) for edge in ("start", "end")]
    return found.select(name, "sales", "orders", *edges)


def _totals(sales: DataFrame, *groups: Column) -> DataFrame:
    money = F.sum("amount").cast(MONEY).alias("sales")
    return sales.groupBy(*groups).agg(money, F.count("*").alias("orders"))
