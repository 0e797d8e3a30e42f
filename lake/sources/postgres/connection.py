"""Connections to a PostgreSQL source as its administrator."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg.rows import class_row

from lake.config.definition import Database
from lake.config.environment import LOOPBACK, Environment
from lake.config.errors import BadInput, LakeError
from lake.config.source import SourceServer
from lake.sources.postgres.login import ADMIN, login
from lake.sources.postgres.session import NO_TIMEOUT, OPTIONS

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


def connect_source(environment: Environment, database: Database) -> AbstractContextManager[Connection]:
    """A connection to a captured database, as connect_server()."""
    return connect_server(environment, database.source, database.database)


@contextmanager
def connect_server(environment: Environment, source: SourceServer | None, database: str) -> Iterator[Connection]:
    """A connection to a database that commits at its end. source: the server; None for that of the lake.

    BadInput when PostgreSQL can't be reached, LakeError when it refuses a statement.
    """
    given = login(environment, source)
    try:
        connected = psycopg.connect(dbname=database, options=OPTIONS, client_encoding="UTF8", **given, **GIVEN_UP)
    except psycopg.OperationalError as error:
        found = str(error)
        raise (
            _problem_of(found, database, source) if source else _connection_problem(found, database, environment)
        ) from None
    try:
        with connected as connection:
            connection.execute(NO_TIMEOUT)
            connection.commit()  # it keeps the setting, and who uses the connection may want to commit each statement
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
        return BadInput(f"PostgreSQL refuses the password of user {ADMIN}", where, now)
    if f'database "{database}" does not exist' in text:
        now = f"create and load it, or correct databases/{database}.yaml"
        return BadInput(f"there is no database '{database}'", where, now)
    return BadInput("PostgreSQL does not answer", where, "run: lake up (lake status and lake logs postgres say more)")


def _problem_of(text: str, database: str, source: SourceServer) -> BadInput:
    """Of a server of one's own. libpq names host and user, never a password."""
    where, reason = f"PostgreSQL at {source.place}", " ".join(text.split())
    for words, what, now in _PROBLEMS:
        if words in reason:
            return BadInput(what.format(user=source.user, database=database), where, now)
    return BadInput(f"no connection: {reason}", where, "see that it runs, and correct the key source")


_PROBLEMS = (
    ("password authentication failed", "it refuses the password of user {user}", "correct the password in its place"),
    ("no password supplied", "user {user} needs a password", "name its place in source.password, or fill ~/.pgpass"),
    ("pg_hba.conf", "it admits no connection of {user} to {database}", "add a line to its pg_hba.conf"),
    ('" does not exist', "there is no database '{database}', or no user '{user}'", "correct the definition"),
    ("server does not support SSL", "it has no TLS", "sslmode: disable, if the way to it is safe"),
    ("certificate verify failed", "its certificate is of another authority", "correct source.ca_file"),
    ("does not match host name", "its certificate is for another host", "write the host of the certificate"),
)
