"""Hudi tables of a test's own, made of the lake's topics: what another writer makes of the same messages."""

import json
from dataclasses import replace
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from lake.local.home import Home
from spark_jobs.pipeline import read_pipeline
from spark_jobs.registry import Registry
from spark_jobs.silver import SilverTable


def writer(
    spark: SparkSession, home: Home, name: str, kind: str, folder: Path, options: dict[str, str] | None = None
) -> SilverTable:
    """Writes what the lake would write for "database.table", to the folder. options: of Hudi, over the lake's own."""
    pipeline = read_pipeline(spark, (home.rendered / "pipeline.json").as_uri())
    (one,) = [one for one in pipeline.tables if f"{one.database}.{one.table}" == name]
    (target,) = [target for target in one.targets if target.type == kind]
    own = replace(target, path=folder.as_uri(), options={**target.options, **(options or {})})
    return SilverTable(spark, one, own, Registry(pipeline.registry))


def messages(spark: SparkSession, home: Home, topic: str, first: int, end: int) -> DataFrame:
    """The messages of offsets first to end - 1."""
    options = {
        "kafka.bootstrap.servers": home.kafka,
        "subscribe": topic,
        "startingOffsets": json.dumps({topic: {"0": first}}),
        "endingOffsets": json.dumps({topic: {"0": end}}),
    }
    return spark.read.format("kafka").options(**options).load()
