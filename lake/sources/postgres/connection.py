"""Connections to a PostgreSQL source as its administrator."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg.rows import class_row

from lake.config.environment import LOOPBACK, Environment
from lake.config.errors import BadInput, LakeError
from lake.sources.postgres.session import OPTIONS

Row = TypeVar("Row")
Connection = psycopg.Connection[Any]
# If the network breaks, a connection ends after 20 s; with the kernel's defaults it would take hours.
GIVEN_UP: dict[str, Any] = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 2,
    "tcp_user_timeout": 20_000,
}


@contextmanager
def connect_source(environment: Environment, database: str) -> Iterator[Connection]:
    """A connection that commits at its end.

    BadInput when PostgreSQL can't be reached, LakeError when it refuses a statement.
    """
    try:
        connected = psycopg.connect(environment.dsn(database), options=OPTIONS, **GIVEN_UP)
    except psycopg.OperationalError as error:
        raise _connection_problem(str(error), database, environment) from None
    try:
        with connected as connection:
            yield connection
    except psycopg.Error as error:
        raise LakeError(refusal(error), f"database {database}", "see: lake logs postgres") from None


def refusal(error: psycopg.Error) -> str:
    """Why PostgreSQL refused a statement; no value of a row."""
    return f"PostgreSQL refused: {error.diag.message_primary or type(error).__name__}"


def value(connection: Connection, query: str, *values: object) -> Any:
    """The first column of the first row; None where there is no row."""
    row = connection.execute(query.encode(), values or None).fetchone()
    return row[0] if row else None


def rows(connection: Connection, kind: type[Row], query: str, values: Any = None) -> list[Row]:
    """Each row of the answer as an object; its fields are named like the columns."""
    with connection.cursor(row_factory=class_row(kind)) as cursor:
        return cursor.execute(query.encode(), values).fetchall()


def _connection_problem(text: str, database: str, environment: Environment) -> BadInput:
    where = f"PostgreSQL at {LOOPBACK}:{environment.ports.postgres}"
    if "password authentication failed" in text:
        now = f"restore {environment.secrets_path}, made by this lake's first start"
        return BadInput("PostgreSQL refuses the password of user postgres", where, now)
    if f'database "{database}" does not exist' in text:
        now = f"create and load it, or correct databases/{database}.yaml"
        return BadInput(f"there is no database '{database}'", where, now)
    return BadInput("PostgreSQL does not answer", where, "run: lake up (lake status and lake logs postgres say more)")
