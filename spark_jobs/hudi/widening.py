"""Columns that become wider in a partitioned table.

When a row moves to another partition, Hudi 0.14 reads the base file that it leaves in the present types of the table
(HoodieMergedReadHandle), and no reader of Parquet reads an int as a bigint. Nothing else reads a base file so. So all
rows are written again before the first commit of a wider type.
"""

import logging
from typing import List, Tuple

from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from spark_jobs.events.schema_evolution import WIDENINGS
from spark_jobs.hudi.table import HudiTable
from spark_jobs.hudi.table_services import compact
from spark_jobs.runtime.sql_text import identifier

LOG = logging.getLogger("widening")


def widen(table: HudiTable, arriving: StructType) -> None:
    """Writes the rows of a partitioned table in the types of rows that arrive, if these are wider."""
    stored = table.stored.columns
    wider = {one.name: one.dataType.simpleString() for one in arriving if _is_wider(one, stored)}
    if not table.source.partition or not wider:
        return
    LOG.warning("%s: columns became wider, and all rows are written again: %s", table.name, ", ".join(wider))
    columns = [
        F.col(identifier(name)).cast(wider[name]).alias(name) if name in wider else F.col(identifier(name))
        for name in stored.names
    ]
    table.commit_without_messages(lambda: table.read().select(*columns))
    if table.target.type == "mor":
        compact(table)  # the new rows are in log files


def _is_wider(arriving: StructField, stored: StructType) -> bool:
    return (dict(_kinds(stored)).get(arriving.name), arriving.dataType.simpleString()) in WIDENINGS


def _kinds(columns: StructType) -> List[Tuple[str, str]]:
    return [(one.name, one.dataType.simpleString()) for one in columns]
