"""Writers of a test's own: what another one makes of the lake's messages, at a path or in the lake's own table."""

from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession

from lake.config.home import Home
from spark_jobs.hudi.table import SilverTable
from spark_jobs.kafka.messages import read_range
from spark_jobs.kafka.schema_registry import Registry
from spark_jobs.runtime.pipeline import read_pipeline


def writer(
    spark: SparkSession,
    home: Home,
    name: str,
    kind: str,
    path: str | None = None,
    options: dict[str, str] | None = None,
) -> SilverTable:
    """Writes what the lake would write for "database.table", to the path. options: of Hudi, over the lake's own.

    Without a path it writes the lake's table, and the streaming job must not run beside it.
    """
    pipeline = read_pipeline(spark, (home.rendered / "pipeline.json").as_uri())
    (one,) = [one for one in pipeline.tables if f"{one.database}.{one.table}" == name]
    (target,) = [target for target in one.targets if target.type == kind]
    own = replace(target, path=path or target.path, options={**target.options, **(options or {})})
    return SilverTable(spark, one, own, Registry(pipeline.registry))


def messages(spark: SparkSession, home: Home, topic: str, first: int, end: int) -> DataFrame:
    """The messages of offsets first to end - 1."""
    return read_range(spark, {"kafka.bootstrap.servers": home.kafka}, topic, {"0": first}, {"0": end})
