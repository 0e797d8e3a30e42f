"""Which queries the pipeline file wants, one per Hudi table and one per archived topic, and how each is started."""

from functools import partial
from typing import Any, Dict, List, Tuple

from spark_jobs.archive import writer as archive
from spark_jobs.hudi.table import HudiTable, target_name
from spark_jobs.kafka.messages import read_range
from spark_jobs.kafka.schema_registry import Registry
from spark_jobs.runtime.pipeline import Pipeline, Table, Target
from spark_jobs.streaming.application import Application
from spark_jobs.streaming.managed_queries import Start
from spark_jobs.streaming.managed_query import ManagedQuery
from spark_jobs.streaming.table_query import TableQuery
from spark_jobs.streaming.table_writer import TableWriter


class QueryStarts:
    """layers: silver, bronze."""

    def __init__(self, app: Application, layers: List[str]) -> None:
        self._app = app
        self._layers = layers

    def targets(self, pipeline: Pipeline) -> List[Tuple[Table, Target]]:
        """The Hudi tables that are to be written."""
        silver_too = "silver" in self._layers
        return [(table, target) for table in pipeline.tables for target in table.targets if silver_too]

    def wanted(self, pipeline: Pipeline, archives_too: bool) -> Dict[str, Tuple[Any, Start]]:
        """Spec and start by name."""
        found: Dict[str, Tuple[Any, Start]] = {}
        registry, size = Registry(pipeline.registry), pipeline.bronze["max_records"]
        for source, target in self.targets(pipeline):
            start = partial(self._start_table, pipeline, registry, source, target)
            found[target_name(source, target)] = (source, target), start
        for table in pipeline.tables if archives_too and "bronze" in self._layers else ():
            found[archive.PREFIX + table.topic] = (
                (table.topic, size),
                partial(self._start_archive, pipeline, registry, table),
            )
        return found

    def _start_table(
        self, pipeline: Pipeline, registry: Registry, source: Table, target: Target, managed: ManagedQuery
    ) -> Any:
        app = self._app
        app.leases.take(target.path)
        managed.retire()
        table = HudiTable(app.spark, source, target)
        read = partial(read_range, app.spark, pipeline.kafka, source.topic)
        may_write = partial(app.leases.check, target.path)
        quarantine = app.quarantines.of(pipeline, source.database)
        managed.writer = TableWriter(table, registry, quarantine, app.progress, read, may_write)
        app.progress.update(table.name, **table.position)  # a table that stays idle has a position too
        return TableQuery(app, pipeline, managed.writer).start()

    def _start_archive(self, pipeline: Pipeline, registry: Registry, table: Table, _: ManagedQuery) -> Any:
        app, size = self._app, pipeline.bronze["max_records"]
        ask = partial(app.broker.topic, table.topic)
        topic = archive.BronzeTopic(app.spark, table, pipeline.bronze["path"], registry, size, ask)
        return archive.start(app.spark, pipeline, topic, app.progress, app.archives)
