"""A batch: messages of one topic, and a summary of them for each Kafka partition."""

from typing import Any, Dict, List, NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_jobs.events import decode
from spark_jobs.events.writer_schemas import WriterSchemas
from spark_jobs.kafka.messages import schema_id

QUANTILES = ", ".join(str(index / 20.0) for index in range(21))
COMMITTED_MS = "CASE WHEN facts.__op <> 'r' THEN facts.__source_ts_ms END"
SUMMARY = (
    "collect_set(id) AS ids",
    "max_by(id, offset) AS last_id",
    "max(offset) AS offset",
    "count(1) AS messages",
    "sum(coalesce(size, 0)) AS bytes",
    "max(facts.__lsn) AS lsn",
    "count({}) AS changes".format(COMMITTED_MS),
    "percentile_approx({}, array({}), 1000) AS committed_ms".format(COMMITTED_MS, QUANTILES),
    "array_distinct(flatten(collect_set(facts.__unavailable))) AS unavailable",
    "collect_set(cast(facts.__run AS string)) AS generations",
    "collect_set(CASE WHEN facts.__op <> 'r' THEN cast(facts.__run AS string) END) AS streaming",
    "collect_set(CASE WHEN facts.__op = 'c' THEN facts.__source_ts_ms END) AS created_ms",
    "collect_set(CASE WHEN facts.__op = 'd' THEN facts.__source_ts_ms END) AS deleted_ms",
)


class Batch(NamedTuple):
    """messages: partition, offset, value. partitions: the rows of summary()."""

    messages: DataFrame
    partitions: List[Any]

    @property
    def writers(self) -> List[int]:
        """The ids of all writer schemas."""
        return sorted({writer for row in self.partitions for writer in row["ids"]})

    @property
    def number(self) -> int:
        """The number of messages."""
        return sum(row["messages"] for row in self.partitions)

    @property
    def value_bytes(self) -> int:
        """The bytes of all values."""
        return sum(row["bytes"] for row in self.partitions)

    @property
    def left_out(self) -> List[str]:
        """The columns that some message leaves out; toast.ALL among them for a change of keys."""
        return sorted({name for row in self.partitions for name in row["unavailable"]})

    @property
    def created_ms(self) -> List[int]:
        """The commit times of transactions that created rows, ms."""
        return sorted({ms for row in self.partitions for ms in row["created_ms"]})

    @property
    def deleted_ms(self) -> List[int]:
        """The commit times of transactions that deleted rows, ms."""
        return sorted({ms for row in self.partitions for ms in row["deleted_ms"]})

    @property
    def next_offsets(self) -> Dict[str, int]:
        """By partition, the offset after the last message."""
        return {str(row["partition"]): row["offset"] + 1 for row in self.partitions}

    @property
    def committed_ms(self) -> List[int]:
        """Quantiles of the source commit times, ms, ascending; of the busiest partition when there are several."""
        busiest = max(self.partitions, key=lambda row: row["changes"])
        return list(busiest["committed_ms"] or [])


def summarize(messages: DataFrame, schemas: WriterSchemas) -> Batch:
    """The batch of these messages. Raises UnknownWriter for a message that no writer of the table sent."""
    messages = messages.select("partition", "offset", "value")
    batch = Batch(messages, summary(messages, schemas.known))
    return Batch(messages, summary(messages, schemas.known)) if schemas.learn(batch.writers) else batch


def summary(messages: DataFrame, schemas: decode.Schemas) -> List[Any]:
    """One Row per Kafka partition of a batch: schema ids, last offset, how many messages and bytes of values, greatest
    LSN, quantiles of commit times, the names of columns that a message left out, the generations of the connector that
    sent messages, and those that sent changes (fencing.py).

    Facts inside the values are taken only from messages whose schema is in `schemas`: repeat it once all ids are known.
    Commit times (ms) leave out snapshot rows, which were committed long before they were read.
    """
    size = F.length("value").alias("size")
    facts = decode.metadata(schemas).alias("facts")
    found = messages.select("partition", "offset", size, schema_id().alias("id"), facts)
    one_task = found.coalesce(1)  # rows of one Kafka partition already lie together
    rows = one_task.groupBy("partition").agg(F.expr("struct({}) AS row".format(", ".join(SUMMARY))))
    return rows.select("partition", "row.*").collect()
