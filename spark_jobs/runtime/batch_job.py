"""The frame of a job that runs once: a session, a result file and an exit code."""

import json
from typing import Any, Callable, Dict

from pyspark.sql import SparkSession

from spark_jobs.runtime import storage

REFUSED = 2
# By default Hudi lists a table's files when a query runs, but for the commit that was the newest when it was planned.
# Where the cleaner came in between, a copy-on-write table is then read as empty, without a word. Listed at the plan, a
# file that is gone is an error (docs/adr/0020-readers-beside-the-cleaner.md).
LISTING, AT_THE_PLAN = "hoodie.datasource.read.file.index.listing.mode", "eager"
Content = Dict[str, Any]


class Refused(Exception):
    """The input names something that is not there."""


def succeeded(_: Content) -> int:
    """The exit code of a job that has no bad result."""
    return 0


def run(
    name: str,
    output: str,
    work: Callable[[SparkSession], Content],
    code: Callable[[Content], int] = succeeded,
    log_level: str = "ERROR",
) -> int:
    """Writes what the work returns to `output` as JSON; the exit code, 2 with an `error` where it raises Refused."""
    spark = SparkSession.builder.appName("lake " + name).getOrCreate()
    spark.sparkContext.setLogLevel(log_level)
    spark.conf.set(LISTING, AT_THE_PLAN)
    try:
        content = work(spark)
        exit_code = code(content)
    except Refused as problem:
        content, exit_code = {"error": str(problem)}, REFUSED
    storage.write_text(spark, output, json.dumps(content))
    spark.stop()
    return exit_code
