"""Schema changes: which of them flow into a table, and which stop it."""

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
    declared NOT NULL. Raises SchemaRefused for a type that can't widen and for a NOT NULL column that is gone.
    """
    if not table.fields:
        return rows
    _refuse_dropped(rows, required, name)
    kept = [_column(rows, field.name, field.dataType, name) for field in table.fields]
    new = [F.col(column) for column in rows.columns if column not in table.names]
    return rows.select(*kept, *new)


def required_fields(schema: Dict[str, Any]) -> List[str]:
    """The fields of a writer schema that can't be null."""
    return [field["name"] for field in schema["fields"] if not _nullable(field["type"])]


def _nullable(kind: Any) -> bool:
    return isinstance(kind, list) and "null" in kind


def _refuse_dropped(rows: DataFrame, required: List[str], name: str) -> None:
    gone = [column for column in required if column not in rows.columns]
    if gone:
        raise SchemaRefused(
            "{}: NOT NULL column {} is gone from the source; the lake can't invent its values; "
            "add it again, or re-create the table in the lake".format(name, ", ".join(gone))
        )


def _column(rows: DataFrame, column: str, stored: DataType, name: str) -> Any:
    if column not in rows.columns:
        return F.lit(None).cast(stored).alias(column)
    arriving = rows.schema[column].dataType
    if arriving == stored or (stored.simpleString(), arriving.simpleString()) in WIDENINGS:
        return F.col(column)
    if (arriving.simpleString(), stored.simpleString()) in WIDENINGS:
        return F.col(column).cast(stored)
    raise SchemaRefused(
        "{}: column {} is {} in the lake and arrives as {}; no value was changed; "
        "change the type back, or re-create the table in the lake".format(
            name, column, stored.simpleString(), arriving.simpleString()
        )
    )
