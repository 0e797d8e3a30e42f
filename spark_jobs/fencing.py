"""Fencing of zombies: messages of a run of the connector's task that reached the topic behind those of the next run.

A run that is replaced may have sent what has not arrived: the kernel goes on sending what a closed socket still has,
once the network is back. The next run sent the same changes again, and later ones, so these are older rows behind newer
ones. Kafka fences by transactions, whose markers take offsets, and the offsets of an archive then have gaps; here each
message says its run (lake.connect.NameRun), and what comes of a replaced one is left out (ADR 23).
"""

from typing import Any, Dict, List, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

KEPT = 10  # runs of a partition that are remembered
# Of one partition: a run, named by when it began (ms), to the offset of its first message.
Firsts = Dict[str, int]


class Zombie(NamedTuple):
    """A replaced run in one partition: its messages count before the offset `end` only."""

    partition: int
    run: str
    end: int

    def __str__(self) -> str:
        text = "what run {0.run} of the connector sent to partition {0.partition} from offset {0.end} on: it was over"
        return text.format(self)


def runs(messages: DataFrame, run: Column, known: Dict[str, Firsts], summary: List[Any]) -> Dict[str, Firsts]:
    """What is known of the runs by partition once a batch is read; only one with a new run in it is read for that.

    run: of a message, null for one that does not say. summary: that of changes.summary.
    """
    if all(set(row["runs"]) <= set(known.get(str(row["partition"]), {})) for row in summary):
        return known
    told = messages.select("partition", "offset", run.alias("run")).where("run IS NOT NULL")
    found = {}  # type: Dict[str, Firsts]
    for row in told.groupBy("partition", "run").agg(F.min("offset").alias("first")).collect():
        found.setdefault(str(row["partition"]), {})[row["run"]] = row["first"]
    return {partition: _joined(known.get(partition, {}), found.get(partition, {})) for partition in {**known, **found}}


def _joined(known: Firsts, found: Firsts) -> Firsts:
    both = {run: min(one[run] for one in (known, found) if run in one) for run in {**known, **found}}
    return dict(sorted(both.items(), key=lambda item: item[1])[-KEPT:])


def ends(firsts: Firsts) -> Dict[str, int]:
    """From which offset on the messages of a run are a zombie's; a run that none has replaced is not in it.

    The one that replaces it both began and arrived later. Either alone may deceive: clocks of two workers differ, and
    the first message of a run may come late. To leave out what no other run sends again would lose it.
    """
    found = {}
    for run, first in firsts.items():
        later = [offset for other, offset in firsts.items() if int(other) > int(run) and offset > first]
        if later:
            found[run] = min(later)
    return found


def zombies(known: Dict[str, Firsts], summary: List[Any]) -> List[Zombie]:
    """What a batch has, or may have, of replaced runs."""
    return [
        Zombie(row["partition"], run, end)
        for row in summary
        for run, end in ends(known.get(str(row["partition"]), {})).items()
        if run in row["runs"] and row["offset"] >= end
    ]


def without(messages: DataFrame, run: Column, left_out: List[Zombie]) -> DataFrame:
    """The messages without those of zombies()."""
    for one in left_out:
        is_late = (F.col("partition") == one.partition) & (F.col("offset") >= one.end)
        messages = messages.where(~F.coalesce(is_late & (run == one.run), F.lit(False)))
    return messages
