"""Writers of a test's own: what another one makes of the lake's messages, at a path or in the lake's own table."""

from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession

from lake.config.environment import Environment
from spark_jobs.events.writer_schemas import WriterSchemas
from spark_jobs.hudi.table import HudiTable
from spark_jobs.kafka.messages import read_range
from spark_jobs.kafka.schema_registry import Registry
from spark_jobs.runtime.pipeline import Table, Target, read_pipeline
from spark_jobs.streaming.apply_batch import apply_batch


class OwnTable(HudiTable):
    """A Hudi table, and what applies batches to it."""

    def __init__(self, spark: SparkSession, source: Table, target: Target, registry: Registry) -> None:
        super().__init__(spark, source, target)
        self._registry = registry

    def write(self, batch: DataFrame) -> None:
        apply_batch(batch, self, WriterSchemas(self._registry, self.source))


def writer(
    spark: SparkSession,
    home: Environment,
    name: str,
    kind: str,
    path: str | None = None,
    options: dict[str, str] | None = None,
) -> OwnTable:
    """Writes what the lake would write for "database.table", to the path. options: of Hudi, over the lake's own.

    Without a path it writes the lake's table, and the streaming job must not run beside it.
    """
    pipeline = read_pipeline(spark, (home.rendered / "pipeline.json").as_uri())
    (one,) = [one for one in pipeline.tables if f"{one.database}.{one.table}" == name]
    (target,) = [target for target in one.targets if target.type == kind]
    own = replace(target, path=path or target.path, options={**target.options, **(options or {})})
    by_number = replace(one, history_s=0.0)  # of commits alone, so that a test need not wait until they are old
    return OwnTable(spark, by_number, own, Registry(pipeline.registry))


def messages(spark: SparkSession, home: Environment, topic: str, first: int, end: int) -> DataFrame:
    """The messages of offsets first to end - 1."""
    return read_range(spark, {"kafka.bootstrap.servers": home.kafka_bootstrap}, topic, {"0": first}, {"0": end})
