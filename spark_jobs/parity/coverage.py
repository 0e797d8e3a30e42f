"""Waits until the lake has all that the source shows at a position."""

from functools import partial
from typing import Dict, Iterable

from pyspark.sql import SparkSession

from spark_jobs.hudi import timeline
from spark_jobs.kafka.admin import Broker
from spark_jobs.kafka.lag import missing_offsets
from spark_jobs.runtime.pipeline import Table
from spark_jobs.runtime.waiting import Deadline, NotCovered, wait_until
from spark_jobs.sources.engine import Source

Ends = Dict[int, int]  # the next offset of each partition of a topic
LATE = "not caught up with {}: {}"


def captured(
    broker: Broker, source: Source, position: str, tables: Iterable[Table], deadline: Deadline
) -> Dict[str, Ends]:
    """The ends of the tables' topics, once Kafka has all that was committed before the position of the source.

    Raises NotCovered when the time is over, and at once if nothing is captured.
    """
    try:
        source.wait_until_captured(position, deadline)
    except NotCovered as missing:
        raise NotCovered(LATE.format(position, missing)) from None
    found = broker.ends_of([table.topic for table in tables])
    return {table.topic: found.get(table.topic, {}) for table in tables}


def reached(spark: SparkSession, table: Table, ends: Ends, position: str, deadline: Deadline) -> None:
    """Returns once every target of a table has all before the ends of its topic. Raises NotCovered as captured()."""
    try:
        for target in table.targets:
            wait_until(partial(_missing, spark, table, target.path, ends), deadline)
    except NotCovered as missing:
        raise NotCovered(LATE.format(position, missing)) from None


def _missing(spark: SparkSession, table: Table, path: str, end: Ends) -> str:
    position = timeline.last_position(timeline.timeline(spark, path))
    reached = position.get("offsets", {}) if position.get("epoch", table.epoch) == table.epoch else {}
    return missing_offsets(path, reached, end)
