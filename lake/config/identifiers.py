"""The names that a definition may use, as types: each mistake says what to write instead."""

import re
from typing import Annotated

from pydantic import AfterValidator, StrictStr

IDENTIFIER = re.compile(r"[a-z_][a-z0-9_]*\Z")
IDENTIFIER_LIMIT = 63  # bytes, PostgreSQL NAMEDATALEN - 1; Hive allows 128, Kafka 249 for the three joined
NAME_LIMIT_OF_DATABASE = IDENTIFIER_LIMIT - len("lake_")  # a source may keep something named lake_<database>
TABLE_NAME = "__table"  # as the partition column: one folder for all rows, named by the table
RESERVED_DATABASES = ("template0", "template1")
RESERVED_SCHEMAS = ("lake", "information_schema")
RESERVED_LAKE_NAMES = ("default", "global_temp", "refined", "information_schema", "sys")
ADDED_COLUMNS = (
    "__op",
    "__db",
    "__table",
    "__schema",
    "__lsn",
    "__source_ts_ms",
    "__deleted",
    "_order",
    "_key",
    "__unavailable",
    "__moved_from",
    "__run",
)


def is_added_column(column: str) -> bool:
    """True for a name that only the pipeline gives to columns: a source column may not have it."""
    return column.lower().startswith(("_hoodie", "_toast_")) or column.lower() in ADDED_COLUMNS


def _identifier(name: str) -> str:
    if not IDENTIFIER.match(name):
        raise ValueError(
            f"'{name}' is not a plain name | use a to z, 0 to 9 and _ only, not starting with a digit "
            "(Hive folds case and Kafka uses the dot)"
        )
    if len(name) > IDENTIFIER_LIMIT:
        raise ValueError(f"'{name[:20]}...' has {len(name)} bytes | PostgreSQL keeps {IDENTIFIER_LIMIT}: shorten it")
    return name


def source_column(name: str) -> str:
    """The name of a column of a source; ValueError for one of the lake."""
    if is_added_column(name):
        raise ValueError(f"the lake adds a column named '{name}' | choose a column of the source table")
    return _identifier(name)


def _partition_column(name: str) -> str:
    return name if name == TABLE_NAME else source_column(name)


def _database_name(name: str) -> str:
    if name in RESERVED_DATABASES:
        raise ValueError(f"'{name}' belongs to the server | choose the database that holds the tables")
    if len(name) > NAME_LIMIT_OF_DATABASE:
        raise ValueError(f"'{name[:20]}...' has {len(name)} bytes | use at most {NAME_LIMIT_OF_DATABASE}")
    return _identifier(name)


def _table_name(name: str) -> str:
    schema, dot, table = name.partition(".")
    if not dot or "." in table:
        raise ValueError(f"'{name}' is not schema.table | write public.{table or schema}, for example")
    if schema in RESERVED_SCHEMAS or schema.startswith("pg_"):
        raise ValueError(f"schema '{schema}' is not captured | choose a table of the application")
    return f"{_identifier(schema)}.{_identifier(table)}"


def _lake_database(name: str) -> str:
    if name in RESERVED_LAKE_NAMES:
        raise ValueError(f"'{name}' is a database that the catalog has for others | choose another name")
    return _identifier(name)


Identifier = Annotated[StrictStr, AfterValidator(_identifier)]
SourceColumn = Annotated[StrictStr, AfterValidator(source_column)]
PartitionColumn = Annotated[StrictStr, AfterValidator(_partition_column)]
DatabaseName = Annotated[StrictStr, AfterValidator(_database_name)]
LakeDatabase = Annotated[StrictStr, AfterValidator(_lake_database)]
QualifiedName = Annotated[StrictStr, AfterValidator(_table_name)]
