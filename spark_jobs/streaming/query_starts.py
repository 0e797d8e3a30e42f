"""Which queries the pipeline file wants, one per Hudi table and one per archived topic, and how each is started."""

from functools import partial
from typing import Any, Dict, List, Tuple

from pyspark.sql import SparkSession

from spark_jobs.archive import writer as archive
from spark_jobs.hudi.lease import Leases
from spark_jobs.hudi.table import HudiTable, target_name
from spark_jobs.kafka.admin import Broker
from spark_jobs.kafka.messages import read_range
from spark_jobs.kafka.schema_registry import Registry
from spark_jobs.quarantine.table import Quarantines
from spark_jobs.runtime.pipeline import Pipeline, Table, Target
from spark_jobs.runtime.status import Progress
from spark_jobs.scheduling.background import Background
from spark_jobs.scheduling.commit_slots import CommitSlots
from spark_jobs.streaming.managed_queries import Start
from spark_jobs.streaming.managed_query import ManagedQuery
from spark_jobs.streaming.table_query import TableQuery
from spark_jobs.streaming.table_writer import TableWriter


class QueryStarts:
    """layers: silver, bronze."""

    def __init__(
        self,
        spark: SparkSession,
        layers: List[str],
        broker: Broker,
        leases: Leases,
        quarantines: Quarantines,
        progress: Progress,
        slots: CommitSlots,
        archives: Background,
    ) -> None:
        self._spark = spark
        self._layers = layers
        self._broker = broker
        self._leases = leases
        self._quarantines = quarantines
        self._progress = progress
        self._slots = slots
        self._archives = archives

    def targets(self, pipeline: Pipeline) -> List[Tuple[Table, Target]]:
        """The Hudi tables that are to be written."""
        silver_too = "silver" in self._layers
        return [(table, target) for table in pipeline.tables for target in table.targets if silver_too]

    def wanted(self, pipeline: Pipeline, archives_too: bool) -> Dict[str, Tuple[Any, Start]]:
        """Spec and start by name."""
        registry = Registry(pipeline.registry)
        tables = {
            target_name(*one): (one, self._table_start(pipeline, registry, *one)) for one in self.targets(pipeline)
        }
        size = pipeline.bronze["max_records"]
        archived = pipeline.tables if archives_too and "bronze" in self._layers else ()
        archives = {
            archive.PREFIX + table.topic: ((table.topic, size), self._archive_start(pipeline, registry, table))
            for table in archived
        }
        return {**tables, **archives}

    def _table_start(self, pipeline: Pipeline, registry: Registry, source: Table, target: Target) -> Start:
        def start(managed: ManagedQuery) -> Any:
            self._leases.take(target.path)
            managed.retire()
            table = HudiTable(self._spark, source, target)
            quarantine = self._quarantines.of(pipeline, source.database)
            read = partial(read_range, self._spark, pipeline.kafka, source.topic)
            may_write = partial(self._leases.check, target.path)
            managed.writer = TableWriter(table, registry, quarantine, self._progress, read, may_write)
            self._progress.update(table.name, **table.position)  # a table that stays idle has a position too
            query = TableQuery(self._spark, pipeline, self._broker, managed.writer, self._progress, self._slots)
            return query.start()

        return start

    def _archive_start(self, pipeline: Pipeline, registry: Registry, table: Table) -> Start:
        def start(_: ManagedQuery) -> Any:
            ask = partial(self._broker.topic, table.topic)
            size = pipeline.bronze["max_records"]
            topic = archive.BronzeTopic(self._spark, table, pipeline.bronze["path"], registry, size, ask)
            return archive.start(self._spark, pipeline, topic, self._progress, self._archives)

        return start
