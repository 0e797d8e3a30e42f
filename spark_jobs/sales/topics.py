"""The topics of sales: read as a batch, read as a stream, written. All jobs of this folder do it here."""

from contextlib import closing
from typing import Dict, Union

from pyspark.sql import Column, DataFrame, SparkSession

from spark_jobs.kafka.admin import Broker
from spark_jobs.kafka.messages import read_range, read_stream
from spark_jobs.runtime.batch_job import Refused
from spark_jobs.sales.formats import AvroFormat, JsonFormat

Format = Union[JsonFormat, AvroFormat]


class Topics:
    """The topics of one cluster.

    settings: as Spark's Kafka source takes them ("kafka.<name>"). partitions: of a topic that is created.
    """

    def __init__(self, spark: SparkSession, settings: Dict[str, str], partitions: int) -> None:
        self._spark, self.settings, self._partitions = spark, settings, partitions

    def exists(self, topic: str) -> bool:
        with closing(Broker(self._spark, self.settings)) as broker:
            return broker.topic(topic).partitions > 0

    def create(self, topic: str) -> None:
        """Creates the topic if need be: no broker here creates one by itself."""
        with closing(Broker(self._spark, self.settings)) as broker:
            broker.create(topic, self._partitions)

    def read(self, topic: str, form: Format) -> DataFrame:
        """All that the topic holds now, as rows. Refused if there is no such topic."""
        with closing(Broker(self._spark, self.settings)) as broker:
            begin, end = broker.offsets(topic)
        if not end:
            raise Refused("topic {} does not exist: run the job that writes it".format(topic))
        bounds = [{str(number): offset for number, offset in offsets.items()} for offsets in (begin, end)]
        return form.rows(read_range(self._spark, self.settings, topic, *bounds))

    def stream(self, topic: str, form: Format) -> DataFrame:
        """The topic from its first message on, as rows. One partition of Kafka is read by all cores."""
        cores = str(self._spark.sparkContext.defaultParallelism)
        return form.rows(read_stream(self._spark, self.settings, topic, minPartitions=cores))

    def write(self, topic: str, form: Format, rows: DataFrame, key: Column) -> None:
        """Sends the rows; returns when Kafka has them."""
        sent = form.messages(rows, key).write.format("kafka").options(**self.settings)
        sent.option("topic", topic).save()
