"""Fencing of zombies: messages of a run of the connector that reach the topic behind those of the run that replaced it.

A run that is replaced may have sent what has not arrived: the kernel goes on sending what a closed socket still has,
once the network is back. The next run sent the same changes again, and later ones, so these are older rows behind newer
ones. Kafka fences by transactions, whose markers take offsets, and the offsets of an archive then have gaps; here each
message says its run (lake.connect.NameRun), and what comes of a replaced one is left out (ADR 23).
"""

import logging
from typing import Any, Dict, List, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_jobs.events import decode
from spark_jobs.events.batch import Batch, summarize
from spark_jobs.events.writer_schemas import WriterSchemas
from spark_jobs.kafka.messages import schema_id

LOG = logging.getLogger("fencing")

KEPT = 50  # runs of a partition that a commit remembers
SLACK_MS = 60000  # from the start of a run until it has the slot: so long its predecessor may go on
# Of one partition: a run, named by when it began (ms), to the offset of its first change.
Firsts = Dict[str, int]


class Zombie(NamedTuple):
    """A replaced run in one partition: what it has from the offset `end` on was sent again, if committed by `until`."""

    partition: int
    run: str
    end: int
    until: int  # ms

    def __str__(self) -> str:
        text = "run {0.run} of the connector is over: what it sent to partition {0.partition} from offset {0.end} on"
        return text.format(self)


def known_after(batch: Batch, known: Dict[str, Firsts], schemas: WriterSchemas) -> Dict[str, Firsts]:
    """What is known of the runs once a batch is read; only a batch with a new one is read for it."""
    if all(set(row["streaming"]) <= set(known.get(str(row["partition"]), {})) for row in batch.partitions):
        return known
    return runs(batch.messages, decode.sender(schemas.known), known)


def drop_stale(batch: Batch, known: Dict[str, Firsts], schemas: WriterSchemas) -> Batch:
    """The batch without the messages of zombies."""
    zombies = those_of(replaced(known), batch.partitions)
    if not zombies:
        return batch
    for zombie in zombies:
        LOG.warning("%s: %s is left out", schemas.table.topic, zombie)
    return summarize(without(batch.messages, decode.sender(schemas.known), zombies), schemas)


def drop_stale_ahead(messages: DataFrame, known: Dict[str, Firsts], schemas: WriterSchemas) -> DataFrame:
    """The messages without those of zombies, of whatever schema they are.

    What lies ahead may have schemas that no batch had. One that is not the table's says nothing of a run.
    """
    framed = messages.select("partition", "offset", "value").select(schema_id().alias("id")).distinct()
    schemas.learn_own(row["id"] for row in framed.collect())
    sender = decode.sender(schemas.known)
    return without(messages, sender, replaced(runs(messages, sender, known)))


def runs(messages: DataFrame, facts: Column, known: Dict[str, Firsts]) -> Dict[str, Firsts]:
    """What is known of the runs by partition once the messages are read.

    Only changes count: they come through the slot, which one run has at a time. Rows of a snapshot do not.
    facts: of a message, with `run`, `op` and `committed_ms`; null for one that does not say.
    """
    changes = messages.select("partition", "offset", facts.alias("facts")).where("facts.op <> 'r'")
    found = {partition: dict(firsts) for partition, firsts in known.items()}
    for row in changes.groupBy("partition", "facts.run").agg(F.min("offset").alias("first")).collect():
        if row["run"] is not None:
            firsts = found.setdefault(str(row["partition"]), {})
            firsts[row["run"]] = min(row["first"], firsts.get(row["run"], row["first"]))
    return found


def remembered(known: Dict[str, Firsts]) -> Dict[str, Firsts]:
    """The last runs of each partition."""
    return {
        partition: dict(sorted(firsts.items(), key=lambda item: item[1])[-KEPT:]) for partition, firsts in known.items()
    }


def replaced(known: Dict[str, Firsts]) -> List[Zombie]:
    """The runs that another one replaced: that both began and arrived later.

    Either alone may deceive: a clock is set back, and the first message of a run may come late. What is left
    out must have been sent again, else it is lost; so it must have been committed before the other one began, too.
    """
    found = []
    for partition, firsts in known.items():
        for run, first in firsts.items():
            later = [
                (offset, int(other)) for other, offset in firsts.items() if int(other) > int(run) and offset > first
            ]
            if later:
                end, began = min(later)
                found.append(Zombie(int(partition), run, end, began + SLACK_MS))
    return found


def those_of(zombies: List[Zombie], summary: List[Any]) -> List[Zombie]:
    """The zombies that a batch may have messages of."""
    batch = {row["partition"]: row for row in summary}
    return [
        one
        for one in zombies
        if one.partition in batch
        and one.run in batch[one.partition]["runs"]
        and batch[one.partition]["offset"] >= one.end
    ]


def without(messages: DataFrame, facts: Column, zombies: List[Zombie]) -> DataFrame:
    """The messages but for those of the zombies."""
    if not zombies:
        return messages
    place, sender = (
        "partition = {0.partition} AND offset >= {0.end}",
        "run = '{0.run}' AND facts.committed_ms <= {0.until}",
    )
    theirs = " OR ".join("({} AND facts.{})".format(place, sender).format(one) for one in zombies)
    return messages.withColumn("facts", facts).where("NOT coalesce({}, false)".format(theirs)).drop("facts")
