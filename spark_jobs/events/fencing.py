"""Fencing of stale generations: a connector is replaced, and messages of the old generation arrive after the new one's.

When the network is back, the kernel of a cut-off worker still sends the content of its closed sockets. By then the next
generation has sent the same changes again, and later ones, so these are old rows after newer ones. Kafka fences by
transactions, but their markers take offsets, and the offsets of an archive would have gaps. Here each message carries
the generation that sent it (lake.connect.NameRun), and the late messages of a replaced one are dropped (ADR 23).
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
KEPT = 50  # generations of a partition that the metadata of a commit keeps
SLACK_MS = 60000  # a generation may continue for this long after its successor has started
FirstOffsets = Dict[str, int]  # in one partition: a generation (its start, ms) to the offset of its first change
Generations = Dict[str, FirstOffsets]  # by partition


class StaleGeneration(NamedTuple):
    """A replaced generation in one partition: its messages from offset `end` on were sent again by the next one, if
    they were committed by `until`."""

    partition: int
    generation: str
    end: int
    until: int  # ms


def generations_after(batch: Batch, known: Generations, schemas: WriterSchemas) -> Generations:
    """All generations that are known after a batch. The batch is read only if it has a new one."""
    if not _has_new(batch, known):
        return known
    return with_generations_of(batch.messages, decode.sender(schemas.known), known)


def needs_nothing(batch: Batch, known: Generations) -> bool:
    """True if the batch has no new generation, and no message of a stale one."""
    return not (_has_new(batch, known) or in_batch(stale_generations(known), batch.partitions))


def _has_new(batch: Batch, known: Generations) -> bool:
    return any(set(row["streaming"]) - set(known.get(str(row["partition"]), {})) for row in batch.partitions)


def drop_stale(batch: Batch, known: Generations, schemas: WriterSchemas) -> Batch:
    """The batch without the messages of stale generations."""
    stale = in_batch(stale_generations(known), batch.partitions)
    if not stale:
        return batch
    for one in stale:
        LOG.warning("%s: messages of a stale generation are dropped: %s", schemas.table.topic, one)
    return summarize(without(batch.messages, decode.sender(schemas.known), stale), schemas)


def drop_stale_ahead(messages: DataFrame, known: Generations, schemas: WriterSchemas) -> DataFrame:
    """Later messages, which no batch has contained yet, without those of stale generations.

    They may have new schemas. Messages whose schema is not the table's name no generation.
    """
    framed = messages.select("partition", "offset", "value").select(schema_id().alias("id")).distinct()
    schemas.learn_own(row["id"] for row in framed.collect())
    sender = decode.sender(schemas.known)
    return without(messages, sender, stale_generations(with_generations_of(messages, sender, known)))


def with_generations_of(messages: DataFrame, facts: Column, known: Generations) -> Generations:
    """The known generations and those of the messages.

    Only changes count, because one generation at a time can read them from the source. Rows of a snapshot do not.
    facts: of a message, with `generation`, `op` and `committed_ms`; null if the message does not name them.
    """
    changes = messages.select("partition", "offset", facts.alias("facts")).where("facts.op <> 'r'")
    found = {partition: dict(firsts) for partition, firsts in known.items()}
    for row in changes.groupBy("partition", "facts.generation").agg(F.min("offset").alias("first")).collect():
        if row["generation"] is not None:
            firsts = found.setdefault(str(row["partition"]), {})
            firsts[row["generation"]] = min(row["first"], firsts.get(row["generation"], row["first"]))
    return found


def remembered(known: Generations) -> Generations:
    """The last generations of each partition."""
    return {
        partition: dict(sorted(firsts.items(), key=lambda item: item[1])[-KEPT:]) for partition, firsts in known.items()
    }


def stale_generations(known: Generations) -> List[StaleGeneration]:
    """The generations that another one replaced: that both started and arrived later.

    One of the two is not enough: a clock may be set back, and the first message of a generation may come late. A
    dropped message must have been sent again, else it is lost; so it must also have been committed before the other
    generation started.
    """
    found = []
    for partition, firsts in known.items():
        for generation, first in firsts.items():
            after = {int(other): offset for other, offset in firsts.items() if offset > first}
            later = [(offset, began) for began, offset in after.items() if began > int(generation)]
            if later:
                end, began = min(later)
                found.append(StaleGeneration(int(partition), generation, end, began + SLACK_MS))
    return found


def in_batch(stale: List[StaleGeneration], partitions: List[Any]) -> List[StaleGeneration]:
    """The stale generations that a batch may have messages of."""
    batch = {row["partition"]: row for row in partitions}

    def may_have(one: StaleGeneration) -> bool:
        row = batch.get(one.partition)
        return row is not None and one.generation in row["generations"] and row["offset"] >= one.end

    return [one for one in stale if may_have(one)]


def without(messages: DataFrame, facts: Column, stale: List[StaleGeneration]) -> DataFrame:
    """The messages without those of the stale generations."""
    if not stale:
        return messages
    place = "partition = {0.partition} AND offset >= {0.end}"
    sender = "facts.generation = '{0.generation}' AND facts.committed_ms <= {0.until}"
    theirs = " OR ".join("({} AND {})".format(place, sender).format(one) for one in stale)
    return messages.withColumn("facts", facts).where("NOT coalesce({}, false)".format(theirs)).drop("facts")
