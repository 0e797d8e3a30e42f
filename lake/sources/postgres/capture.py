"""The replication slot and the positions in the write-ahead log; a position is an LSN in bytes."""

import json
import uuid

import psycopg

from lake.config.definition import Database
from lake.config.environment import Environment
from lake.config.errors import LakeError
from lake.sources.engine import Kept, Offset
from lake.sources.postgres import names
from lake.sources.postgres.connection import Connection, connect_source, value
from lake.sources.postgres.facts import read_capture, read_slot
from lake.sources.postgres.relations import signalled

POSITION = "SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint"
DROP = "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = %s"
REQUEST = "INSERT INTO lake.signal (id, type, data) VALUES (%s, 'execute-snapshot', %s)"

# Inserts, updates and deletes begin with a letter and the table. A publication that was changed later is no obstacle.
AHEAD = """
WITH ahead AS (
  SELECT chr(get_byte(data, 0)) AS kind,
    ('x' || encode(substring(data FROM 2 FOR 4), 'hex'))::bit(32)::bigint AS relation
  FROM pg_logical_slot_peek_binary_changes(%(slot)s, NULL, %(most)s, 'proto_version', '1', 'publication_names', %(of)s)
)
SELECT coalesce(n.nspname || '.' || c.relname, 'a dropped table') AS name, count(*) FROM ahead
LEFT JOIN pg_class c ON c.oid = relation LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE kind IN ('I', 'U', 'D') GROUP BY 1 ORDER BY 1
"""
MOST_AHEAD = 100_000  # changes that are counted: PostgreSQL keeps them in a file meanwhile
COUNTED_WITHIN = "SET LOCAL statement_timeout = '60s'"


def position(environment: Environment, database: Database) -> int:
    with connect_source(environment, database) as connection:
        return _position(connection)


def position_text(position: int) -> str:
    """An LSN, "0/1A2B3C4"."""
    return f"{position >> 32:X}/{position & 0xFFFFFFFF:X}"


def is_captured(environment: Environment, database: Database, position: int) -> bool:
    """True if the slot has passed the position: Debezium advances it once Kafka has acknowledged the changes."""
    slot = read_capture(environment, database)
    return slot is not None and slot.captured is not None and slot.captured >= position


def reader(environment: Environment, database: Database) -> int | None:
    """The process id of the walsender that streams from the slot."""
    slot = read_capture(environment, database)
    return slot.pid if slot else None


def status(environment: Environment, database: Database) -> tuple[str, int | None]:
    try:
        with connect_source(environment, database) as connection:
            slot = read_slot(connection, database)
    except LakeError:
        return "unknown", None
    if slot is None:
        return "absent", None
    return f"{'active' if slot.active else 'inactive'}, {slot.wal_status}", slot.retained_bytes


def kept(environment: Environment, database: Database) -> Kept | None:
    slot = read_capture(environment, database)
    return Kept(slot.retained_bytes, slot.safe_bytes) if slot and slot.retained_bytes is not None else None


def request_snapshot(environment: Environment, database: Database, tables: list[str]) -> int:
    """Writes into the signal table, and commits before it reads the position."""
    data = {"data-collections": list(map(signalled, tables)), "type": "incremental"}
    with connect_source(environment, database) as connection:
        connection.execute(REQUEST, [f"lake-{uuid.uuid4()}", json.dumps(data)])
        connection.commit()
        return _position(connection)


def changes_ahead(environment: Environment, database: Database) -> dict[str, int] | None:
    values = {"slot": names.slot(database), "most": MOST_AHEAD, "of": f'"{names.publication(database)}"'}
    try:
        with connect_source(environment, database) as connection:
            connection.execute(COUNTED_WITHIN)
            return dict(connection.execute(AHEAD, values).fetchall())
    except LakeError:
        return None


def reset(environment: Environment, database: Database) -> bool:
    """Drops the slot."""
    with connect_source(environment, database) as connection:
        try:
            connection.execute(DROP, [names.slot(database)])
        except psycopg.errors.ObjectInUse:
            connection.rollback()
            return False
    return True


def objects(database: Database) -> list[str]:
    return [f"slot {names.slot(database)}", f"publication {names.publication(database)}"]


def acknowledged(offset: Offset | None) -> int:
    return max(int((offset or {}).get(name) or 0) for name in ("lsn", "lsn_commit", "lsn_proc"))


def streamed(offset: Offset) -> int:
    return int(offset.get("lsn") or 0)


def _position(connection: Connection) -> int:
    return int(value(connection, POSITION))
