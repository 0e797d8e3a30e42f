"""Hudi's own client of a table, for what its DataFrame writer does not offer."""

from contextlib import closing
from typing import Any, Dict, Optional

from pyspark.sql import SparkSession

from spark_jobs.runtime.jvm import java, java_map
from spark_jobs.runtime.pipeline import Target


def write_client(spark: SparkSession, target: Target, options: Optional[Dict[str, str]] = None) -> Any:
    """A Java SparkRDDWriteClient for the table; to be closed. options: over those of the table."""
    given = {**target.options, **(options or {}), "hoodie.compact.inline.max.delta.commits": "1"}
    scala = spark._jvm.PythonUtils.toScalaMap(java_map(spark, "java.util.HashMap", given))
    nothing = java(spark, "scala.Option").apply(None)
    create = java(spark, "org.apache.hudi.HoodieCLIUtils").createHoodieWriteClient
    return create(spark._jsparkSession, target.path, scala, nothing)


def roll_back(spark: SparkSession, target: Target) -> None:
    """Rolls back an unfinished commit, before the next commit gets its instant.

    Hudi's DataFrame writer rolls back after that, so the rollback in the log files has a later instant. A reader stops
    there (0.14, AbstractHoodieLogRecordReader): it would miss that commit until the next one (ADR 22).

    Also one that later commits have passed: a request to S3 can be carried out after its sender gave up. By default
    Hudi then refuses each later commit ("please rollback greater commits first"). With LAZY it does not. Nobody may
    commit meanwhile, because every unfinished commit is taken as abandoned.
    """
    with closing(write_client(spark, target, {"hoodie.cleaner.policy.failed.writes": "LAZY"})) as client:
        client.rollbackFailedWrites()
