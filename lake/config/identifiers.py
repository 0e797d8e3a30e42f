"""The names that a definition may use, as types: each mistake says what to write instead."""

from typing import Annotated

from pydantic import AfterValidator, StrictStr

from lake.config.naming import PLAIN, joined, split

NAME_LIMIT = 63  # bytes, PostgreSQL NAMEDATALEN - 1
TABLE_NAME = "__table"  # as the partition column: one folder for all rows, named by the table
RESERVED_DATABASES = ("template0", "template1")
RESERVED_SCHEMAS = ("lake", "information_schema")
RESERVED_LAKE_NAMES = ("default", "global_temp", "refined", "information_schema", "sys")
NOT_IN_ADDRESSES = "/\\?&#%+${}"  # the driver takes the name of a database from an address, and its file has it too


def _identifier(name: str) -> str:
    if not PLAIN.match(name):
        raise ValueError(
            f"'{name}' is not a plain name | use a to z, 0 to 9 and _ only, not starting with a digit "
            "(the catalog of the lake folds case)"
        )
    return _within_limit(name)


def _within_limit(name: str) -> str:
    size = len(name.encode())
    if size > NAME_LIMIT:
        raise ValueError(f"'{name[:20]}...' has {size} bytes | PostgreSQL keeps {NAME_LIMIT}: shorten it")
    return name


def source_name(name: str) -> str:
    """A name as PostgreSQL allows it; ValueError for one that it can't have."""
    if not name or "\0" in name:
        raise ValueError(f"{name!r} is no name | write the name that PostgreSQL shows")
    return _within_limit(name)


def _database_name(name: str) -> str:
    if name in RESERVED_DATABASES:
        raise ValueError(f"'{name}' belongs to the server | choose the database that holds the tables")
    if wrong := [one for one in name if one in NOT_IN_ADDRESSES or not one.isprintable()]:
        raise ValueError(f"'{name}' has the character {wrong[0]!r}, which no address holds | rename the database")
    if name.startswith(".") or name != name.strip():
        raise ValueError(f"'{name}' begins with a dot, or begins or ends with a space | rename the database")
    return source_name(name)


def _table_name(name: str) -> str:
    """In one form, whichever quotes it is written with."""
    parts = split(name)
    if parts is None:
        example = name.rpartition(".")[2].strip('"') or "orders"
        now = f'write public.{example}, for example; a part with a dot or a quote in it is quoted: public."a.b"'
        raise ValueError(f"'{name}' is not schema.table | {now}")
    schema, table = map(source_name, parts)
    if schema in RESERVED_SCHEMAS or schema.startswith("pg_"):
        raise ValueError(f"schema '{schema}' is not captured | choose a table of the application")
    return joined(schema, table)


def _lake_database(name: str) -> str:
    if name in RESERVED_LAKE_NAMES:
        raise ValueError(f"'{name}' is a database that the catalog has for others | choose another name")
    return _identifier(name)


Identifier = Annotated[StrictStr, AfterValidator(_identifier)]
SourceColumn = Annotated[StrictStr, AfterValidator(source_name)]
PartitionColumn = Annotated[StrictStr, AfterValidator(source_name)]
DatabaseName = Annotated[StrictStr, AfterValidator(_database_name)]
LakeDatabase = Annotated[StrictStr, AfterValidator(_lake_database)]
QualifiedName = Annotated[StrictStr, AfterValidator(_table_name)]
