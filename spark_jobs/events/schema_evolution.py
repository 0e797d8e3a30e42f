"""Schema changes: the table follows some of them, and others stop it."""

from typing import Any, Dict, List

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructType

# What Hudi 0.14 and every reader of its files widen without rewriting them.
WIDENINGS = {("int", "bigint"), ("smallint", "int"), ("smallint", "bigint"), ("float", "double")}


class SchemaRefused(Exception):
    """A change of the source that the table can't take; nothing of the batch was written."""


def fit(rows: DataFrame, table: StructType, required: List[str], name: str) -> DataFrame:
    """The rows in the table's column order, missing columns null, new columns at the end.

    New columns go last because the metastore compares columns by position. required: columns that the source
    declared NOT NULL. Raises SchemaRefused for a type that can't widen and for a NOT NULL column that was dropped.
    """
    if not table.fields:
        return rows
    _refuse_dropped(rows, required, name)
    if [(one.name, one.dataType) for one in rows.schema] == [(one.name, one.dataType) for one in table]:
        return rows
    kept = [_column(rows, field.name, field.dataType, name) for field in table.fields]
    new = [F.col(column) for column in rows.columns if column not in table.names]
    return rows.select(*kept, *new)


def without_refused(rows: DataFrame, table: StructType) -> DataFrame:
    """The rows without the columns whose type the table can't take."""
    stored = {field.name: field.dataType for field in table.fields}
    refused = [field.name for field in rows.schema if not _fits(field.dataType, stored.get(field.name, field.dataType))]
    return rows.drop(*refused)


def required_fields(schema: Dict[str, Any]) -> List[str]:
    """The fields of a writer schema that can't be null."""
    return [one["name"] for one in schema["fields"] if not (isinstance(one["type"], list) and "null" in one["type"])]


def _refuse_dropped(rows: DataFrame, required: List[str], name: str) -> None:
    gone = [column for column in required if column not in rows.columns]
    if gone:
        what = "{}: NOT NULL column {} was dropped in the source; the lake can't invent its values; "
        remedy = "add it again and update the rows written without it"
        raise SchemaRefused((what + remedy).format(name, ", ".join(gone)))


def _column(rows: DataFrame, column: str, stored: DataType, name: str) -> Any:
    if column not in rows.columns:
        return F.lit(None).cast(stored).alias(column)
    arriving = rows.schema[column].dataType
    if _fits(arriving, stored):
        return F.col(column).cast(stored) if _widens(arriving, stored) else F.col(column)
    what = "{}: column {} is {} in the lake and arrives as {}; no value was changed; "
    remedy = "change the type back and update the rows written meanwhile"
    raise SchemaRefused((what + remedy).format(name, column, stored.simpleString(), arriving.simpleString()))


def _fits(arriving: DataType, stored: DataType) -> bool:
    return arriving == stored or _widens(arriving, stored) or _widens(stored, arriving)


def _widens(narrow: DataType, wide: DataType) -> bool:
    return (narrow.simpleString(), wide.simpleString()) in WIDENINGS
