"""Loads sample tables into the source database, which only the lake's network reaches.

spark-submit spark_jobs/load.py --jdbc-url jdbc:postgresql://host:port/db --user u --schema <file> --output <file>
    --table name=<file>...      The password is in LAKE_LOAD_PASSWORD. Existing rows are not changed.
"""

from typing import Any, Dict

from pyspark.sql import SparkSession

from spark_jobs.runtime import batch_job
from spark_jobs.runtime.passwords import password
from spark_jobs.runtime.pipeline import ENGINE
from spark_jobs.sources.engine import engine

PASSWORD = "LAKE_LOAD_PASSWORD"


def load_all(spark: SparkSession, args: Any) -> Dict[str, Any]:
    """Loads all tables."""
    tables = dict(args.table)
    return {"added": engine(ENGINE).load(spark, args.jdbc_url, args.user, password(PASSWORD), args.schema, tables)}


if __name__ == "__main__":
    options = batch_job.parser("load", __doc__, "--output", "--jdbc-url", "--user", "--schema")
    options.add_argument("--table", action="append", type=lambda text: text.split("=", 1), default=[])
    batch_job.run(options, load_all)
