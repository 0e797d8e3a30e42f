"""The passwords of the lake's roles on a server that a definition names: those of this lake's secrets.

As in the chart of AWS, a password that works is not set again, and the server gets a SCRAM verifier, not the password.
"""

from collections.abc import Iterator

import psycopg
from psycopg import sql

from lake.config.definition import Database
from lake.config.environment import Environment
from lake.config.errors import BadInput
from lake.sources.change import SET_PASSWORD, Change
from lake.sources.postgres.connection import GIVEN_UP, Connection
from lake.sources.postgres.login import address
from lake.sources.postgres.roles import READERS

REFUSED = ("password authentication failed", "does not exist", "not permitted to log in")
ADMITTED = "permission denied for database"  # which the server says after it has checked the password


def unset(environment: Environment, database: Database) -> Iterator[Change]:
    """The roles that cannot log in with the passwords of this lake. BadInput if another reason keeps them out."""
    for role in READERS if database.source else ():
        if not _works(environment, database, role):
            yield Change("source", database.database, role, SET_PASSWORD, statement(role))


def statement(role: str) -> str:
    """What is shown; a verifier takes the place of the last word when it is executed."""
    return f"ALTER ROLE {role} PASSWORD :{role}"


def with_verifier(environment: Environment, connection: Connection, text: str) -> str:
    """The statement as it is executed."""
    for role in READERS:
        if text == statement(role):
            return text.replace(f":{role}", verifier(connection, role, getattr(environment.secrets, role)))
    return text


def verifier(connection: Connection, role: str, password: str) -> str:
    """What PostgreSQL keeps instead of a password, as a literal."""
    made = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256").decode()
    return sql.Literal(made).as_string(None).strip()


def _works(environment: Environment, database: Database, role: str) -> bool:
    given = {**address(environment, database.source), "user": role, "password": getattr(environment.secrets, role)}
    try:
        psycopg.connect(dbname=database.database, **given, **GIVEN_UP).close()
    except psycopg.OperationalError as error:
        reason = " ".join(str(error).split())
        if any(words in reason for words in REFUSED):
            return False
        if ADMITTED not in reason and database.source:
            where, now = f"PostgreSQL at {database.source.place}", "let it in (pg_hba.conf), then run: lake apply"
            raise BadInput(f"role {role} cannot connect: {reason}", where, now) from None
    return True
