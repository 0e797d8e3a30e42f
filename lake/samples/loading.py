"""Rows of samples into PostgreSQL. A second load adds nothing, and changes no row."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import psycopg
from psycopg import sql

from lake.config.environment import Environment
from lake.config.errors import BadInput, LakeError
from lake.sources.postgres.connection import connect_server
from lake.sources.postgres.session import OPTIONS

CHUNK_BYTES = 1 << 16
REPORT_EVERY = 1000  # rows
NEW = "CREATE TEMP TABLE {new} ON COMMIT DROP AS SELECT {columns} FROM {target} WITH NO DATA"
COPY = "COPY {new} FROM STDIN (FORMAT csv, DELIMITER {delimiter}, NULL {null}, ENCODING 'UTF8')"
KEEP = "INSERT INTO {target} ({columns}) SELECT * FROM {new} WHERE NOT ({left_out}) ON CONFLICT DO NOTHING"
Row = Sequence[Any]
Counts = dict[str, tuple[int, int]]  # rows added and rows present afterwards, by table
Report = Callable[[str, int, int], None]  # table, done so far, and all that there is to do: rows, or bytes of a file


def silent(table: str, done: int, total: int) -> None:
    """Report for those who show no progress."""


@dataclass(frozen=True)
class CsvTable:
    """A table (schema.table) and its rows as CSV in UTF-8, whose first line names columns. left_out: a condition."""

    name: str
    path: Path
    delimiter: str = ","
    null: str = ""
    left_out: str = "false"


@contextmanager
def new_database(home: Environment, name: str, schema: Path) -> Iterator[psycopg.Connection]:
    """A connection to the database, which is created with its schema if need be.

    BadInput if PostgreSQL can't be reached, LakeError later.
    """
    try:
        with connect_server(home, None, "postgres") as connection:
            connection.autocommit = True
            if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone() is None:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        with psycopg.connect(home.dsn(name), options=OPTIONS) as connection:
            connection.execute(schema.read_bytes())
            yield connection
    except psycopg.OperationalError as error:
        reason = str(error).strip().splitlines()[0]
        raise LakeError(f"PostgreSQL: {reason}", f"127.0.0.1:{home.ports.postgres}", "run: lake up") from None


def require_files(paths: Iterable[Path]) -> None:
    """BadInput for a file that is missing."""
    for path in paths:
        if not path.exists():
            now = f"restore it: git checkout data/{path.parent.name}"
            raise BadInput("a data file is missing", str(path), now)


def count(connection: psycopg.Connection, table: str) -> int:
    """The number of rows of schema.table."""
    row = connection.execute(sql.SQL("SELECT count(*) FROM {}").format(_identifier(table))).fetchone()
    return int(row[0]) if row else 0


def copy_file(connection: psycopg.Connection, table: CsvTable, report: Report = silent) -> tuple[int, int]:
    """Rows added and rows present. They are copied into a temporary table first: those that exist stay as they are."""
    with table.path.open("rb") as file:
        columns = file.readline().decode().strip().split(table.delimiter)
        names = {
            "new": sql.Identifier(f"new {table.name}"),
            "target": _identifier(table.name),
            "columns": sql.SQL(", ").join(map(sql.Identifier, columns)),
            "left_out": sql.SQL(table.left_out),
        }
        connection.execute(sql.SQL(NEW).format(**names))
        _copy(connection, table, names["new"], _chunks(table, file, report))
    added = connection.execute(sql.SQL(KEEP).format(**names)).rowcount
    return added, count(connection, table.name)


def _copy(connection: psycopg.Connection, table: CsvTable, new: sql.Composable, chunks: Iterable[bytes]) -> None:
    options = {"delimiter": sql.Literal(table.delimiter), "null": sql.Literal(table.null)}
    with connection.cursor() as cursor, cursor.copy(sql.SQL(COPY).format(new=new, **options)) as copy:
        for chunk in chunks:
            copy.write(chunk)


def _chunks(table: CsvTable, file: BinaryIO, report: Report) -> Iterator[bytes]:
    size = table.path.stat().st_size
    while chunk := file.read(CHUNK_BYTES):
        yield chunk
        report(table.name, file.tell(), size)


def fill(
    connection: psycopg.Connection, table: str, rows: Iterable[Row], total: int, report: Report = silent
) -> tuple[int, int]:
    """Rows added and rows present. A table that has rows gets none. rows: in the order of the table's columns."""
    if present := count(connection, table):
        return 0, present
    statement = sql.SQL("COPY {} FROM STDIN").format(_identifier(table))
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for number, row in enumerate(rows, 1):
            copy.write_row(row)
            if number % REPORT_EVERY == 0 or number == total:
                report(table, number, total)
    return total, total


def continue_sequences(connection: psycopg.Connection) -> None:
    """Each identity column goes on behind its greatest value."""
    found = connection.execute(
        "SELECT format('%I.%I', n.nspname, c.relname), a.attname FROM pg_attribute a"
        " JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE a.attidentity <> '' AND NOT c.relispartition AND c.relkind IN ('r', 'p')"
    ).fetchall()
    for table, column in found:
        statement = "SELECT setval(pg_get_serial_sequence(%s, %s), greatest(max({}), 1)) FROM {}"
        names = sql.Identifier(column), sql.SQL(table)
        connection.execute(sql.SQL(statement).format(*names), [table, column])


def _identifier(table: str) -> sql.Identifier:
    return sql.Identifier(*table.split("."))
