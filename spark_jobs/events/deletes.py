"""The data that a deleted row keeps in the table."""

from pyspark.sql import DataFrame

from spark_jobs.events import flatten
from spark_jobs.runtime.pipeline import Table


def erase_deleted(rows: DataFrame, table: Table) -> DataFrame:
    """The rows, without the data of deleted rows if the delete policy of the table removes them."""
    return rows if flatten.keeps_deleted(table) else rows.selectExpr(*flatten.erased(rows.columns, table))
