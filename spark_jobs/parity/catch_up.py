"""Waiting until the lake has everything up to given offsets of a topic."""

from typing import Dict

from pyspark.sql import SparkSession

from spark_jobs.hudi import timeline
from spark_jobs.kafka.offsets import missing_offsets
from spark_jobs.runtime.pipeline import Table
from spark_jobs.runtime.waiting import Deadline, wait_until


def wait_for_targets(spark: SparkSession, table: Table, end: Dict[int, int], deadline: Deadline) -> None:
    """Until the last commit of every target covers the end offsets."""
    for target in table.targets:
        wait_until(lambda target=target: _target_lacks(spark, table, target.path, end), deadline)  # type: ignore[misc]


def _target_lacks(spark: SparkSession, table: Table, path: str, end: Dict[int, int]) -> str:
    position = timeline.last_position(timeline.timeline(spark, path))
    reached = position.get("offsets", {}) if position.get("epoch", table.epoch) == table.epoch else {}
    return missing_offsets(path, reached, end)
