"""The runner of a job that runs once: its options, a session, a result file and an exit code."""

import argparse
import json
import sys
from typing import Any, Callable, Dict

from pyspark.sql import SparkSession

from spark_jobs.runtime import storage
from spark_jobs.runtime.jvm import keep_names

REFUSED = 2
# By default Hudi lists a table's files when a query runs, except for the commit that was the newest at the plan. If the
# cleaner deleted files in between, a copy-on-write table is then read as empty, without an error. If the files are
# listed at the plan, a deleted file is an error (docs/adr/0020-readers-beside-the-cleaner.md).
LISTING, AT_THE_PLAN = "hoodie.datasource.read.file.index.listing.mode", "eager"
Content = Dict[str, Any]


class Refused(Exception):
    """The input names something that does not exist."""


def parser(name: str, doc: Any, *required: str) -> argparse.ArgumentParser:
    """A parser of these options, which must be given. doc: the docstring of the job, which explains all options."""
    found = argparse.ArgumentParser(name, description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in required:
        found.add_argument(option, required=True)
    return found


def run(
    options: argparse.ArgumentParser,
    work: Callable[[SparkSession, Any], Content],
    code: Callable[[Content], int] = lambda _: 0,
) -> None:
    """Runs the work, writes what it returns to the result file, as JSON, and ends the process with the exit code.

    The exit code is 2 when the work raises Refused; the file then holds the reason under "error".
    """
    args = options.parse_args()
    spark = SparkSession.builder.appName("lake " + options.prog).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.conf.set(LISTING, AT_THE_PLAN)
    keep_names(spark)
    try:
        content = work(spark, args)
        exit_code = code(content)
    except Refused as problem:
        content, exit_code = {"error": str(problem)}, REFUSED
    storage.write_text(spark, args.output, json.dumps(content))
    spark.stop()
    sys.exit(exit_code)
