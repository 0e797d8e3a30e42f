"""Spark's checkpoint of a streaming query: the batches that it has cut (offsets/) and those that ended (commits/)."""

from typing import List

from pyspark.sql import SparkSession

from spark_jobs.runtime import storage


def forget_unended(spark: SparkSession, checkpoint: str) -> None:
    """Forgets a batch that was cut and did not end. The next batch begins where it began, and has all later messages.

    Spark would run the same batch again. After a crash that is a small commit before the one with all later messages,
    and in a new JVM each commit takes ten seconds. Only for a sink that may get a message twice, in different batches.
    """
    ended = _numbers(spark, checkpoint + "/commits")
    for number in _numbers(spark, checkpoint + "/offsets"):
        if number > max(ended, default=-1):
            storage.delete(spark, "{}/offsets/{}".format(checkpoint, number))


def _numbers(spark: SparkSession, folder: str) -> List[int]:
    return [int(name) for name in storage.names(spark, folder) if name.isdigit()]
