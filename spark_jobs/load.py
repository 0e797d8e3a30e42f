"""Loads sample tables into the source database, from where only the lake's network reaches it.

spark-submit spark_jobs/load.py --jdbc-url jdbc:postgresql://host:port/db --user u --schema <file> --output <file>
    --table name=<file>...      The password is in LAKE_LOAD_PASSWORD. Rows that are there already are left alone.
"""

import argparse
import os
import sys
from typing import Any, Dict, List, Tuple

from pyspark.sql import SparkSession

from spark_jobs.runtime import batch_job, storage
from spark_jobs.runtime.jvm import java
from spark_jobs.sources.postgres.reader import Source

PASSWORD = "LAKE_LOAD_PASSWORD"
COPY = "COPY new_{0} FROM STDIN (FORMAT csv, HEADER true, DELIMITER '|', QUOTE '\"', ENCODING 'UTF8')"
NEW = "CREATE TEMP TABLE new_{0} (LIKE public.{0}) ON COMMIT DROP"
KEEP = "INSERT INTO public.{0} SELECT * FROM new_{0} ON CONFLICT DO NOTHING"


def connect(spark: SparkSession, url: str, user: str, password: str) -> Any:
    """A JDBC connection in a transaction."""
    connection = Source(spark, url, user, password).connect()
    connection.setAutoCommit(False)
    return connection


def execute(connection: Any, statement: str) -> int:
    """The number of rows changed."""
    open_statement = connection.createStatement()
    try:
        return int(open_statement.executeUpdate(statement))
    finally:
        open_statement.close()


def load(spark: SparkSession, connection: Any, table: str, path: str) -> int:
    """Copies the file into a table of its own first, so that a second load adds nothing; the rows added."""
    execute(connection, NEW.format(table))
    reader = java(spark, "java.io.StringReader")(storage.read_text(spark, path))
    connection.getCopyAPI().copyIn(COPY.format(table), reader)
    return execute(connection, KEEP.format(table))


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
    """The rows added by table; all tables in one transaction."""
    connection = connect(spark, args.jdbc_url, args.user, os.environ[PASSWORD])
    try:
        execute(connection, storage.read_text(spark, args.schema))
        added = {table: load(spark, connection, table, path) for table, path in args.table}
        connection.commit()
        return added
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
