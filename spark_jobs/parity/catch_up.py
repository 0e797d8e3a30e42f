"""Waiting until the lake has everything that PostgreSQL had committed at a given position."""

import sys
import time
from typing import Any, Callable, Dict, NamedTuple

from pyspark.sql import SparkSession

from spark_jobs.hudi import timeline
from spark_jobs.kafka.offsets import missing_offsets
from spark_jobs.runtime.pipeline import Table
from spark_jobs.sources.postgres.reader import Source, rows_of

LOOK_EVERY_S = 0.5
TELL_EVERY_S = 5.0
STARTED = time.monotonic()
SLOT = (
    "SELECT (confirmed_flush_lsn >= ?::pg_lsn), confirmed_flush_lsn::text FROM pg_replication_slots WHERE slot_name = ?"
)


class NotCovered(Exception):
    """The lake did not catch up within the time given; the message says what lacks what."""


class Deadline(NamedTuple):
    """When to give up, in time.monotonic() seconds."""

    at: float

    def passed(self) -> bool:
        return time.monotonic() > self.at


def wait_for_slot(source: Source, database: str, lsn: str, deadline: Deadline) -> None:
    """Until Connect has Kafka's acknowledgement for all that was committed before lsn."""
    connection = source.connect()
    try:
        wait_until(lambda: _slot_lacks(connection, "lake_" + database, lsn), deadline)
    finally:
        connection.close()


def _slot_lacks(connection: Any, slot: str, lsn: str) -> str:
    rows = rows_of(connection, SLOT, lsn, slot)
    if not rows:
        return "there is no replication slot {}".format(slot)
    return "" if rows[0][0] else "slot {} confirmed {} of {}".format(slot, rows[0][1], lsn)


def wait_for_targets(spark: SparkSession, table: Table, end: Dict[int, int], deadline: Deadline) -> None:
    """Until the last commit of every target covers the end offsets."""
    for target in table.targets:
        wait_until(lambda target=target: _target_lacks(spark, table, target.path, end), deadline)  # type: ignore[misc]


def _target_lacks(spark: SparkSession, table: Table, path: str, end: Dict[int, int]) -> str:
    position = timeline.last_position(timeline.timeline(spark, path))
    reached = position.get("offsets", {}) if position.get("epoch", table.epoch) == table.epoch else {}
    return missing_offsets(path, reached, end)


def wait_until(lacks: Callable[[], str], deadline: Deadline) -> None:
    """Asks until nothing is lacking (''); NotCovered with the last answer when the time is over."""
    told = time.monotonic()
    while True:
        missing = lacks()
        if not missing:
            return
        if deadline.passed():
            raise NotCovered(missing)
        if time.monotonic() - told > TELL_EVERY_S:
            told = time.monotonic()
            tell("waiting: " + missing)
        time.sleep(LOOK_EVERY_S)


def tell(line: str) -> None:
    """A line of progress with the seconds since the start."""
    sys.stderr.write("verify: {:6.1f} s  {}\n".format(time.monotonic() - STARTED, line))
    sys.stderr.flush()
