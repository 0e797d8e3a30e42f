"""The streaming query of one Hudi table: it reads the topic, and writes each batch when the table has a commit slot."""

from pyspark.sql import DataFrame
from pyspark.sql.streaming import DataStreamReader, StreamingQuery

from spark_jobs.runtime.pipeline import Pipeline
from spark_jobs.scheduling import checkpoint
from spark_jobs.streaming.application import Application
from spark_jobs.streaming.table_writer import TableWriter


class TableQuery:
    """A query that writes each batch. A batch that comes again changes nothing (apply_batch.py)."""

    def __init__(self, app: Application, pipeline: Pipeline, writer: TableWriter) -> None:
        self._app = app
        self._pipeline = pipeline
        self._writer = writer
        self._table = writer.table
        self._begun = False

    def start(self) -> StreamingQuery:
        """The running query; it goes on where its checkpoint ends."""
        name = self._table.name
        kept = "{}/silver/{}/{}".format(self._pipeline.checkpoints, name, self._table.source.epoch)
        checkpoint.forget_unended(self._app.spark, kept)
        trigger = "{} milliseconds".format(self._pipeline.silver["trigger_ms"])
        writer = self._source().load().writeStream.queryName("silver " + name).option("checkpointLocation", kept)
        return writer.trigger(processingTime=trigger).foreachBatch(self.take_slot).start()

    def _source(self) -> DataStreamReader:
        return (
            self._app.spark.readStream.format("kafka")
            .options(**self._pipeline.kafka)
            .options(
                subscribe=self._table.source.topic,
                startingOffsets="earliest",
                failOnDataLoss="true",
                maxOffsetsPerTrigger=str(self._pipeline.silver["max_offsets"]),
                # One Kafka partition is not one task.
                minPartitions=str(self._app.spark.sparkContext.defaultParallelism),
            )
        )

    def take_slot(self, batch: DataFrame, _: int) -> None:
        """Writes a batch; returns when the table has a slot again."""
        self._refuse_other_topic()
        with self._app.slots.slot(self._table.name):
            self._writer.write(batch)
        self._table.metastore.after_commit()
        self._app.progress.note(self._table.name, sync_failure=self._table.metastore.failure)
        self._app.slots.await_next(self._table.name)

    def _refuse_other_topic(self) -> None:
        """Raises source_offsets.TopicChanged; not at the start, where a Kafka that is away would hold up all tables."""
        topic = self._table.source.topic
        self._table.read_from(self._app.broker.topic(topic))
        if not self._begun:
            self._table.refuse_gap(self._app.broker.offsets(topic).begin)
            self._begun = True
