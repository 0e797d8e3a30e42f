"""The SQL that makes a PostgreSQL database capturable: statements as text, identifiers quoted."""

from collections.abc import Iterable

from psycopg import sql

from lake.config.definition import HEARTBEAT, SIGNAL

OPTIONS = "publish = 'insert, update, delete, truncate', publish_via_partition_root = true"
# What each user may do. Debezium writes its watermarks of incremental snapshots into the signal table.
HEARTBEAT_RIGHTS = ("SELECT", "INSERT", "UPDATE")
SIGNAL_RIGHTS = ("SELECT", "INSERT", "DELETE")
TABLE_RIGHTS = ("SELECT",)


def required_rights(tables: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """What the capture user needs on which table."""
    return {**dict.fromkeys(tables, TABLE_RIGHTS), HEARTBEAT: HEARTBEAT_RIGHTS, SIGNAL: SIGNAL_RIGHTS}


def create_schema() -> str:
    return "CREATE SCHEMA IF NOT EXISTS lake"


def create_heartbeat() -> str:
    """Debezium updates its one row, so that the slot moves on while the captured tables are idle (F15)."""
    return "CREATE TABLE lake.heartbeat (id int PRIMARY KEY, at timestamptz NOT NULL)"


def create_signal() -> str:
    """Rows inserted here ask the running connector for an incremental snapshot."""
    return "CREATE TABLE lake.signal (id varchar(64) PRIMARY KEY, type varchar(32) NOT NULL, data text)"


LAKE_TABLES = {HEARTBEAT: create_heartbeat, SIGNAL: create_signal}


def create_publication(name: str, tables: Iterable[str]) -> str:
    """A publication of the tables (schema.table each), the heartbeat and the signal table."""
    members = sql.SQL(", ").join(_qualified(table) for table in (*tables, HEARTBEAT, SIGNAL))
    statement = "CREATE PUBLICATION {} FOR TABLE {} WITH (" + OPTIONS + ")"
    return _text(sql.SQL(statement).format(sql.Identifier(name), members))


def set_publication_options(name: str) -> str:
    return _text(sql.SQL("ALTER PUBLICATION {} SET (" + OPTIONS + ")").format(sql.Identifier(name)))


def add_to_publication(name: str, table: str) -> str:
    return _text(sql.SQL("ALTER PUBLICATION {} ADD TABLE {}").format(sql.Identifier(name), _qualified(table)))


def drop_from_publication(name: str, table: str) -> str:
    return _text(sql.SQL("ALTER PUBLICATION {} DROP TABLE {}").format(sql.Identifier(name), _qualified(table)))


def set_replica_identity(table: str, identity: str) -> str:
    """identity is full or default."""
    mode = sql.SQL({"full": "FULL", "default": "DEFAULT"}[identity])
    return _text(sql.SQL("ALTER TABLE {} REPLICA IDENTITY {}").format(_qualified(table), mode))


def grant_usage(schema: str, user: str) -> str:
    return _text(sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(sql.Identifier(schema), sql.Identifier(user)))


def grant(rights: Iterable[str], table: str, user: str) -> str:
    listed = sql.SQL(", ").join(sql.SQL(right) for right in rights)
    return _text(sql.SQL("GRANT {} ON {} TO {}").format(listed, _qualified(table), sql.Identifier(user)))


def _qualified(table: str) -> sql.Identifier:
    return sql.Identifier(*table.split(".", 1))


def _text(statement: sql.Composed) -> str:
    return statement.as_string(None)
