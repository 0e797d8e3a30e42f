"""Loads sample tables into the source database, from where only the lake's network reaches it.

spark-submit spark_jobs/load.py --jdbc-url jdbc:postgresql://host:port/db --user u --schema <file> --output <file>
    --table name=<file>...      The password is in LAKE_LOAD_PASSWORD. Rows that are there already are left alone.
"""

import argparse
import os
import sys
from typing import Any, Dict, List, Tuple

from pyspark.sql import SparkSession

from spark_jobs.runtime import batch_job
from spark_jobs.runtime.pipeline import ENGINE
from spark_jobs.sources.engine import engine

PASSWORD = "LAKE_LOAD_PASSWORD"


def named(text: str) -> Tuple[str, str]:
    """artists=s3://... as a pair."""
    name, _, path = text.partition("=")
    return name, path


def main(argv: List[str]) -> int:
    """Writes the rows added by table to the result file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--jdbc-url", "--user", "--schema", "--output"):
        parser.add_argument(option, required=True)
    parser.add_argument("--table", action="append", type=named, default=[])
    args = parser.parse_args(argv)
    return batch_job.run("load", args.output, lambda spark: {"added": load_all(spark, args)})


def load_all(spark: SparkSession, args: Any) -> Dict[str, int]:
    """The rows added by table."""
    load = engine(ENGINE).load
    return load(spark, args.jdbc_url, args.user, os.environ[PASSWORD], args.schema, dict(args.table))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
