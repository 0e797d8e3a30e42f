"""The streaming query of one Hudi table: it reads the topic, and writes each batch when the table has a commit slot."""

from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql.streaming import StreamingQuery

from spark_jobs.events.declared_schema import schemas_of
from spark_jobs.hudi.table import HudiTable
from spark_jobs.kafka.messages import read_range, read_stream
from spark_jobs.runtime.pipeline import Pipeline, Table, Target
from spark_jobs.scheduling import checkpoint
from spark_jobs.streaming.application import Application
from spark_jobs.streaming.managed_queries import ManagedQuery
from spark_jobs.streaming.table_writer import TableWriter


def start(app: Application, pipeline: Pipeline, source: Table, target: Target, managed: ManagedQuery) -> StreamingQuery:
    """The running query, with a new writer; it continues from its checkpoint."""
    app.leases.take(target.path)
    managed.retire()
    table = HudiTable(app.spark, source, target)
    read = partial(read_range, app.spark, pipeline.kafka, source.topic, is_json=source.is_json)
    may_write = partial(app.leases.check, target.path)
    quarantine = app.quarantines.of(pipeline, source.database)
    managed.writer = TableWriter(table, schemas_of(pipeline, source), quarantine, app.progress, read, may_write)
    app.progress.update(table.name, **table.position)  # a table that stays idle has a position too
    kept = "{}/silver/{}/{}".format(pipeline.checkpoints, table.name, source.epoch)
    checkpoint.forget_unended(app.spark, kept)
    # One Kafka partition is not one task.
    tasks, most = str(app.spark.sparkContext.defaultParallelism), str(pipeline.silver["max_offsets"])
    limits = {"minPartitions": tasks, "maxOffsetsPerTrigger": most}
    messages = read_stream(app.spark, pipeline.kafka, source.topic, is_json=source.is_json, **limits)
    writer = messages.writeStream.queryName("silver " + table.name).option("checkpointLocation", kept)
    trigger = "{} milliseconds".format(pipeline.silver["trigger_ms"])
    return writer.trigger(processingTime=trigger).foreachBatch(Batches(app, managed.writer).write).start()


class Batches:
    """The batches of a query. A redelivered batch changes nothing (apply_batch.py)."""

    def __init__(self, app: Application, writer: TableWriter) -> None:
        self._app = app
        self._writer = writer
        self._table = writer.table
        self._begun = False

    def write(self, batch: DataFrame, _: int) -> None:
        """Writes a batch; returns when the table has a slot again."""
        self._refuse_other_topic()
        with self._app.slots.slot(self._table.name):
            self._writer.write(batch)
        self._table.metastore.after_commit()
        self._app.progress.note(self._table.name, sync_failure=self._table.metastore.failure)
        self._app.slots.await_next(self._table.name)

    def _refuse_other_topic(self) -> None:
        """Raises source_offsets.TopicChanged. This is not done at the start: a Kafka that does not answer would then
        delay all tables."""
        topic = self._table.source.topic
        self._table.read_from(self._app.broker.topic(topic))
        if not self._begun:
            self._table.refuse_gap(self._app.broker.offsets(topic).begin)
            self._begun = True
