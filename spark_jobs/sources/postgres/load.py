"""Sample tables into PostgreSQL, by COPY."""

from contextlib import closing
from typing import Any, Dict

from pyspark.sql import SparkSession

from spark_jobs.runtime import storage
from spark_jobs.runtime.jvm import java
from spark_jobs.sources.postgres.reader import Source

COPY = "COPY new_{0} FROM STDIN (FORMAT csv, HEADER true, DELIMITER '|', QUOTE '\"', ENCODING 'UTF8')"
NEW = "CREATE TEMP TABLE new_{0} (LIKE public.{0}) ON COMMIT DROP"
KEEP = "INSERT INTO public.{0} SELECT * FROM new_{0} ON CONFLICT DO NOTHING"


def load(spark: SparkSession, url: str, user: str, password: str, schema: str, files: Dict[str, str]) -> Dict[str, int]:
    """The rows added by table; all tables in one transaction."""
    with closing(Source(spark, url, user, password).connect()) as connection:
        connection.setAutoCommit(False)
        _execute(connection, storage.read_text(spark, schema))
        added = {table: _load(spark, connection, table, path) for table, path in files.items()}
        connection.commit()
        return added


def _execute(connection: Any, statement: str) -> int:
    """The number of rows changed."""
    with closing(connection.createStatement()) as open_statement:
        return int(open_statement.executeUpdate(statement))


def _load(spark: SparkSession, connection: Any, table: str, path: str) -> int:
    """Returns the number of rows added. The file is first copied to a temporary table: a second load adds nothing."""
    _execute(connection, NEW.format(table))
    reader = java(spark, "java.io.StringReader")(storage.read_text(spark, path))
    connection.getCopyAPI().copyIn(COPY.format(table), reader)
    return _execute(connection, KEEP.format(table))
