"""The toy's part in spark_jobs: its types. Nothing here proves the lake against its source."""

from typing import Any

from spark_jobs.sources.columns import Converted, field_of
from spark_jobs.sources.engine import ColumnType, Engine, Unmapped

SPARK = {"INTEGER": "bigint", "TEXT": "string"}


def column_type(column: Any) -> ColumnType:
    if column.type not in SPARK:
        raise Unmapped(column.type)
    return ColumnType(SPARK[column.type], "CAST({x} AS TEXT)", lambda text: text, lambda value: value)


def convert(field: dict[str, Any], row: str) -> Converted:
    return Converted(field_of(field["name"], row), [])


UNUSED: dict[str, Any] = dict.fromkeys(Engine._fields)
ENGINE = Engine(**{**UNUSED, "convert": convert, "column_type": column_type})
