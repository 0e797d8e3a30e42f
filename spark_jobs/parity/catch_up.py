"""Waiting until the lake has all that the source had at a position."""

from functools import partial
from typing import Dict

from pyspark.sql import SparkSession

from spark_jobs.hudi import timeline
from spark_jobs.kafka import admin
from spark_jobs.kafka.lag import missing_offsets
from spark_jobs.runtime.pipeline import Pipeline, Table
from spark_jobs.runtime.waiting import Deadline, wait_until
from spark_jobs.sources.engine import Source


def cover(
    spark: SparkSession, pipeline: Pipeline, source: Source, position: str, table: Table, deadline: Deadline
) -> Dict[int, int]:
    """Returns once every target of a table covers the position: the end offsets of its topic that are then covered.

    Raises NotCovered when the time is over.
    """
    source.wait_until_captured(position, deadline)
    end = admin.topic_offsets(spark, pipeline, table.topic).end
    for target in table.targets:
        wait_until(partial(_missing, spark, table, target.path, end), deadline)
    return end


def _missing(spark: SparkSession, table: Table, path: str, end: Dict[int, int]) -> str:
    position = timeline.last_position(timeline.timeline(spark, path))
    reached = position.get("offsets", {}) if position.get("epoch", table.epoch) == table.epoch else {}
    return missing_offsets(path, reached, end)
