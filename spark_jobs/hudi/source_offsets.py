"""The position in the metadata of each commit of a Hudi table: entries by name, written with the rows.

topic, topic_id, epoch: whose offsets these are; a re-created topic has the old name and another id
offsets: by partition, the offset after the last message
runs: the generations of the connector (fencing.py)
lsn: the greatest of the source's log so far
schema_id: of the newest message's writer
messages: the number of messages in the commit
bytes_since_service: of values, since the last compaction or cleaning (services.py)
source_ts_ms, lag_ms: when the newest of them was committed, ms; the p50, p95 and greatest age of its changes, ms
"""

import time
from typing import Any, Dict, Optional

from spark_jobs.events.batch import Batch
from spark_jobs.events.fencing import Generations, remembered
from spark_jobs.kafka.admin import Topic
from spark_jobs.runtime.pipeline import Table

RUNBOOK = "docs/runbooks/lost-topic.md"
Position = Dict[str, Any]
REACHED = ("topic_id", "offsets", "lsn", "schema_id", "runs")


class TopicChanged(Exception):
    """A topic has changed since the last read, so rows would be lost. The remedy is a new epoch."""

    def __init__(self, table: Table, what: str) -> None:
        text = "topic {} {}; write epoch: {} for the table in databases/{}.yaml, then: lake apply; {}"
        super().__init__(text.format(table.topic, what, table.epoch + 1, table.database, RUNBOOK))


def refuse_changed(held: Position, table: Table, topic: Topic) -> None:
    """Raises TopicChanged. held: the position of the table; it has no topic id before the first commit."""
    refuse_repartitioned(table, topic)
    if topic.id and reached(held, table.epoch).get("topic_id") not in (None, topic.id):
        lost = "its old messages are lost and the first messages of the new topic would be skipped"
        raise TopicChanged(table, "was deleted and re-created: " + lost)


def refuse_repartitioned(table: Table, topic: Topic) -> None:
    """Raises TopicChanged where a topic has new partitions: a key's later changes have lower offsets there."""
    if topic.partitions > table.partitions:
        what = "has {} partitions, not {}: keys have changed their partition, so offsets no longer tell the order of "
        what += "their changes; delete the topic"
        raise TopicChanged(table, what.format(topic.partitions, table.partitions))


def refuse_gap(held: Position, table: Table, begin: Dict[int, int]) -> None:
    """Raises TopicChanged where Kafka has deleted messages after the last commit. begin: the first offset by partition.

    Spark notices this only with a checkpoint: a query without one begins with the first message that Kafka still has.
    """
    for partition, end in reached(held, table.epoch)["offsets"].items():
        first = begin.get(int(partition), end)
        if first > end:
            what = "partition {}: offsets {} to {} were deleted before they were read"
            raise TopicChanged(table, what.format(partition, end, first - 1))


def reached(held: Position, epoch: int) -> Position:
    """The part of the position that belongs to this epoch."""
    known = held if held.get("epoch") == epoch else {}
    return {"offsets": {}, "runs": {}, **{name: known[name] for name in REACHED if name in known}}


def following(
    held: Position, table: Table, topic_id: Optional[str], current: Batch, batch: Batch, generations: Generations
) -> Position:
    """The position after a batch. current: the batch without stale generations."""
    lsns = [row["lsn"] for row in current.partitions if row["lsn"] is not None]
    times = current.committed_ms
    return {
        "topic": table.topic,
        "topic_id": topic_id,
        "epoch": table.epoch,
        "offsets": {**reached(held, table.epoch)["offsets"], **batch.next_offsets},
        "runs": remembered(generations),
        "lsn": max(lsns + [held.get("lsn", 0)]),
        "schema_id": max(row["last_id"] for row in current.partitions),
        "messages": current.number,
        # p50, p95 and greatest age of the batch's changes when its write began; what the write itself takes
        # is the time between this commit's instant and its completion.
        "source_ts_ms": times[-1] if times else None,
        "lag_ms": [int(time.time() * 1000) - times[index] for index in (10, 1, 0)] if times else None,
    }


def without_messages(position: Position) -> Position:
    """The position of a commit that contains no messages."""
    return dict(position, messages=0, source_ts_ms=None, lag_ms=None)
