"""Real Hudi tables of one source table in a folder, written as the streaming job writes them."""

from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from lake.config.definition import Database
from lake.config.environment import Environment
from lake.rendering.pipeline import pipeline as rendered
from spark_jobs.hudi.table import HudiTable
from spark_jobs.quarantine import table
from spark_jobs.quarantine.table import Quarantines
from spark_jobs.quarantined import facts
from spark_jobs.runtime.jvm import java
from spark_jobs.runtime.pipeline import Pipeline, Table, Target
from spark_jobs.runtime.status import Progress
from spark_jobs.streaming import quarantine_requests
from spark_jobs.streaming.table_writer import PART_BYTES, TableWriter
from tests.poisoned import TOPIC, Schemas, batch

END = 2**62


def records(spark: SparkSession, *values: bytes, first: int = 0) -> Any:
    """Messages of partition 0 as the feed has them: a Java list of ConsumerRecords."""
    record, made = java(spark, "org.apache.kafka.clients.consumer.ConsumerRecord"), java(spark, "java.util.ArrayList")()
    for offset, value in enumerate(values, first):
        made.add(record(TOPIC, 0, offset, None, bytearray(value)))
    return made


LOCAL = Environment(name="local", root=Path(__file__).parents[2])


class Lab:
    """The Hudi tables of one source table below a folder, and their quarantine."""

    def __init__(
        self, spark: SparkSession, folder: Path, policy: str = "quarantine", types: Any = ("mor",), **more: Any
    ) -> None:
        settings = {"key": ["id"], "types": list(types), "on_bad_message": policy, **more}
        content = rendered([Database.model_validate({"database": "lab", "tables": {"public.t": settings}})], LOCAL)
        self.spark = spark
        self.registry: Any = Schemas()
        self.table = self._table(content["tables"][0], folder)
        aside = Target("cow", (folder / "quarantine").as_uri(), (), content["quarantine"]["lab"]["options"])
        self.pipeline = Pipeline({}, "", "", (folder / "requests").as_uri(), {}, {}, "", {"lab": aside}, (self.table,))
        self.quarantines = Quarantines(spark)
        self.topic = batch(spark)  # what is read of it again
        self.writers = [self.writer(target) for target in self.table.targets]

    def _table(self, entry: dict[str, Any], folder: Path) -> Table:
        targets = tuple(
            Target(one["type"], (folder / one["type"]).as_uri(), (), one["options"]) for one in entry.pop("targets")
        )
        return Table(**{**entry, "keys": tuple(entry["keys"]), "targets": targets})

    def writer(self, target: Target, part_bytes: int = PART_BYTES) -> TableWriter:
        table = HudiTable(self.spark, self.table, target)
        quarantine = self.quarantines.of(self.pipeline, "lab")
        return TableWriter(table, self.registry, quarantine, Progress(), self.read_range, lambda: None, part_bytes)

    def read_range(self, begins: dict[str, int], before: dict[str, int] | None) -> DataFrame:
        """Of self.topic, whose only partition is 0."""
        return self.topic.where(f"offset >= {begins['0']} AND offset < {before['0'] if before else END}")

    def append(self, *values: bytes, first: int = 0) -> dict[str, int] | None:
        """The short road of the first table: the offsets after the messages; None if they are not plain."""
        writer = self.writers[0]
        writer.table.can_append = True
        writer.prepare()
        return writer.append(records(self.spark, *values, first=first))

    def write(self, *values: bytes, first: int = 0) -> None:
        for writer in self.writers:
            writer.write(batch(self.spark, *values, first=first))

    def stored(self, place: int = 0) -> DataFrame:
        return self.spark.read.format("hudi").load(self.table.targets[place].path)

    def rows(self, place: int = 0) -> dict[int, Any]:
        return {row["id"]: row["name"] for row in self.stored(place).collect()}

    def aside(self, settled: bool = True) -> list[dict[str, Any]]:
        return facts(table.stored(self.spark, self.pipeline.quarantine["lab"].path), [], settled)

    def states(self) -> dict[int, str]:
        return {one["offset"]: one["state"] for one in self.aside()}

    def ask(self, action: str, *ids: str, **more: Any) -> dict[str, Any]:
        arguments = {"database": "lab", "ids": list(ids), "by": "ada", **more}
        return quarantine_requests.settle(self.quarantines, self.pipeline, self.writers, action, arguments)
