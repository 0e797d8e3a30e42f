"""Quarantine: a Hudi table for the messages of a database that can't be applied (ADR 16)."""

import threading
from contextlib import contextmanager
from typing import Dict, Iterator, List, Optional

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.events import validate
from spark_jobs.hudi import timeline
from spark_jobs.hudi.hive_sync import MetastoreSync
from spark_jobs.hudi.lease import alone
from spark_jobs.runtime.pipeline import Pipeline, Table, Target

WAITING, REPLAYED, DROPPED = "waiting", "replayed", "dropped"
# _order counts the states of an entry: the newest stays, whatever the clocks say.
COLUMNS = (
    "id string, topic string, epoch int, partition int, offset bigint, key binary, value binary, reason string, "
    "set_aside_at timestamp, state string, settled_at timestamp, settled_by string, _order bigint"
)
NAMES = [column.split(" ")[0] for column in COLUMNS.split(", ")]


class Quarantine:
    """One entry per offset. All tables of the database write to it, one at a time.

    The lease is held only during a write, so that nobody holds it while there is no poison message.
    """

    def __init__(self, spark: SparkSession, target: Target) -> None:
        self._spark = spark
        self._target = target
        self._lock = threading.Lock()
        self._metastore = MetastoreSync(spark, target, target.path, has_commits=True)
        self._counts = self._count()

    def waiting(self, topic: str) -> int:
        """How many messages of a topic are neither replayed nor dropped."""
        return self._counts.get(topic, 0)

    def stored(self) -> DataFrame:
        """All entries, also those that were replayed or dropped."""
        return stored(self._spark, self._target.path)

    def put(self, bad: DataFrame, table: Table) -> None:
        """Sets messages aside; bad: partition, offset, key, value, reason.

        Known entries are not changed, so that a batch may be redelivered and dropped messages stay dropped. But a
        replayed message that some table still can't read waits again.
        """
        with self._writing():
            known = self.stored().select("id", F.col("state").alias("before"), "_order")
            found = entries(bad, table).join(known, "id", "left")
            new = found.where(F.col("before").isNull() | (F.col("before") == REPLAYED))
            self._save(new.withColumn("_order", F.coalesce("_order", F.lit(0)) + 1))

    def settle(self, which: DataFrame, state: str, by: str) -> None:
        """Marks entries as replayed or dropped. which: the id of each; only those that wait are changed."""
        with self._writing():
            waiting = self.stored().where(F.col("state") == WAITING).join(which.select("id"), "id", "left_semi")
            settled = waiting.withColumn("state", F.lit(state)).withColumn("settled_by", F.lit(by))
            settled = settled.withColumn("settled_at", F.current_timestamp())
            self._save(settled.withColumn("_order", F.col("_order") + 1))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        holder, path = "stream {}".format(self._spark.sparkContext.applicationId), self._target.path
        with self._lock, alone(self._spark, path, holder):
            timeline.refuse_clock(self._spark, timeline.timeline(self._spark, path), path)
            yield
            self._counts = self._count()

    def _save(self, rows: DataFrame) -> None:
        rows = rows.select(*NAMES).coalesce(1)
        if rows.take(1):
            timeline.clear_unborn(self._spark, self._target.path)
            rows.write.format("hudi").options(**self._target.options).mode("append").save(self._target.path)
            self._metastore.sync()  # its columns never change: once is enough

    def _count(self) -> Dict[str, int]:
        if not timeline.written(self._spark, self._target.path):
            return {}  # counting without a table would take a second from the tables of a new job
        waiting = _load(self._spark, self._target.path).where(F.col("state") == WAITING)
        return {row[0]: row[1] for row in waiting.groupBy("topic").count().collect()}


class Quarantines:
    """The quarantines of one application, by database: one object each, because it has a lock."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._lock = threading.Lock()
        self._known: Dict[str, Quarantine] = {}

    def of(self, pipeline: Pipeline, database: str) -> Quarantine:
        """The quarantine of a database. It is read at the first call, which fails if the storage does not answer."""
        with self._lock:
            if database not in self._known:
                self._known[database] = Quarantine(self._spark, pipeline.quarantine[database])
            return self._known[database]


def entries(bad: DataFrame, table: Table) -> DataFrame:
    """New entries, without `_order`. The epoch is part of the id: offsets of a re-created topic begin at 0 again."""
    place = F.concat_ws("/", F.lit(table.topic), F.lit(table.epoch), F.col("partition"), F.col("offset"))
    topic = F.lit(table.topic).alias("topic"), F.lit(table.epoch).cast("int").alias("epoch")
    state = F.current_timestamp().alias("set_aside_at"), F.lit(WAITING).alias("state")
    settled = F.lit(None).cast("timestamp").alias("settled_at"), F.lit(None).cast("string").alias("settled_by")
    message = "partition", "offset", "key", "value", validate.REASON
    return bad.select(place.alias("id"), *topic, *message, *state, *settled)


def stored(spark: SparkSession, path: str) -> DataFrame:
    """All entries of the quarantine at a path; none where nothing was ever set aside."""
    if not timeline.written(spark, path):
        return spark.createDataFrame([], COLUMNS)
    return _load(spark, path)


def _load(spark: SparkSession, path: str) -> DataFrame:
    return spark.read.format("hudi").load(path).select(*NAMES)


def missing_messages(spark: SparkSession, target: Optional[Target], table: Table) -> List[str]:
    """A line for each message of a table that is neither replayed nor dropped, by offset."""
    if target is None or not timeline.written(spark, target.path):
        return []
    waiting = _load(spark, target.path).where((F.col("topic") == table.topic) & (F.col("state") == WAITING))
    rows = waiting.orderBy("epoch", "partition", "offset").select("id", "partition", "offset", "reason").collect()
    line = "partition {0.partition} offset {0.offset} is missing: {0.reason} (lake quarantine show {1} {0.id})"
    return [line.format(row, table.database) for row in rows]
