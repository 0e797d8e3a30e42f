"""The sessions that tables are compared in: code is compiled for a large table, and a small one is interpreted.

Compiling the code of one query takes longer than to interpret it for some ten thousand rows.
"""

from pyspark.sql import SparkSession

from spark_jobs.runtime.batch_job import AT_THE_PLAN, LISTING

SMALL_BYTES = 2**23  # of the table in the source
INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",  # there is nothing to adapt in one partition
}


class Sessions:
    """Both kinds, of one application."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self._small = interpreted(spark)

    def of(self, size: int) -> SparkSession:
        """The session for a table of so many bytes."""
        return self._small if size < SMALL_BYTES else self.spark


def interpreted(spark: SparkSession) -> SparkSession:
    """A session beside the given one that compiles nothing."""
    made = spark.newSession()
    for name, value in {**INTERPRETED, LISTING: AT_THE_PLAN}.items():
        made.conf.set(name, value)
    return made
