"""The streaming query of one Hudi table: it reads the topic, and writes each batch when the table's turn has come."""

import logging
from typing import Iterator, Optional

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import DataStreamReader, StreamingQuery

from spark_jobs.events import schema_evolution
from spark_jobs.events.toast_from_table import Unfillable, later
from spark_jobs.hudi.table import Oversized
from spark_jobs.kafka.admin import Broker
from spark_jobs.kafka.messages import latest_message_per_key, read_range, split_by_bytes, start_offsets
from spark_jobs.runtime.pipeline import Pipeline
from spark_jobs.runtime.status import Progress
from spark_jobs.scheduling import checkpoint
from spark_jobs.scheduling.commit_slots import Turns
from spark_jobs.streaming.table_writer import Guard

LOG = logging.getLogger("silver")
PART_BYTES = 128 * 1024 * 1024  # of values: Hudi holds the rows of a commit in memory, some of them more than once


class SilverQuery:
    """What the query does with each batch; a batch that comes again changes nothing (SilverTable.write)."""

    def __init__(
        self, spark: SparkSession, pipeline: Pipeline, broker: Broker, guard: Guard, progress: Progress, turns: Turns
    ) -> None:
        self._spark = spark
        self._pipeline = pipeline
        self._broker = broker
        self._guard = guard
        self._silver = guard.silver
        self._progress = progress
        self._turns = turns
        self._begun = False

    def start(self) -> StreamingQuery:
        """The running query; it goes on where its checkpoint ends."""
        name = self._silver.name
        kept = "{}/silver/{}/{}".format(self._pipeline.checkpoints, name, self._silver.table.epoch)
        checkpoint.forget_unended(self._spark, kept)
        trigger = "{} milliseconds".format(self._pipeline.silver["trigger_ms"])
        writer = self._source().load().writeStream.queryName("silver " + name).option("checkpointLocation", kept)
        return writer.trigger(processingTime=trigger).foreachBatch(self._take_turn).start()

    def _source(self) -> DataStreamReader:
        return (
            self._spark.readStream.format("kafka")
            .options(**self._pipeline.kafka)
            .options(
                subscribe=self._silver.table.topic,
                startingOffsets="earliest",
                failOnDataLoss="true",
                maxOffsetsPerTrigger=str(self._pipeline.silver["max_offsets"]),
                # One Kafka partition is not one task.
                minPartitions=str(self._spark.sparkContext.defaultParallelism),
            )
        )

    def _take_turn(self, batch: DataFrame, _: int) -> None:
        self._read_from(self._silver.table.topic)
        with self._turns.turn(self._silver.name):
            self._write(batch, PART_BYTES)
        self._silver.sync_after_commit()
        self._progress.note(self._silver.name, sync_failure=self._silver.sync_failure)
        self._turns.await_next(self._silver.name)

    def _read_from(self, topic: str) -> None:
        """Raises source_position.TopicChanged; not asked at the start, where a Kafka that is away would hold up all."""
        self._silver.read_from(self._broker.topic(topic))
        if not self._begun:
            self._silver.refuse_gap(self._broker.offsets(topic).begin)
            self._begun = True

    def _write(self, batch: DataFrame, limit: Optional[int] = None) -> None:
        try:
            self._guard.write(batch, self._progress, limit=limit)
        except Oversized as oversized:
            # Kafka's source counts messages, and 200,000 small ones make a good batch.
            LOG.info("%s; it is written in parts", oversized)
            for part in self._parts(batch):
                self._write(part)
        except schema_evolution.SchemaRefused as refused:
            # Only what no later change has replaced must fit: so a table goes on once its source is put right.
            outliving = latest_message_per_key(self._from_here_on(batch))
            self._silver.refuse_left_out(outliving, refused)
            self._guard.write(outliving, self._progress)
        except Unfillable as lacking:
            LOG.warning("%s; looking for it in later messages", lacking)
            behind = later(self._spark, batch, self._from_here_on(batch), lacking.offsets)
            self._guard.write(batch, self._progress, behind)

    def _parts(self, batch: DataFrame) -> Iterator[DataFrame]:
        """The batch in parts, read from Kafka each: of what was read of all of it, most would be thrown away."""
        topic = self._silver.table.topic
        for partition, first, last in split_by_bytes(batch, PART_BYTES):
            bounds = {str(partition): first}, {str(partition): last + 1}
            yield read_range(self._spark, self._pipeline.kafka, topic, *bounds)

    def _from_here_on(self, batch: DataFrame) -> DataFrame:
        """The messages of the batch and all later ones."""
        topic, firsts = self._silver.table.topic, start_offsets(batch)
        return self._silver.fenced(read_range(self._spark, self._pipeline.kafka, topic, firsts))
