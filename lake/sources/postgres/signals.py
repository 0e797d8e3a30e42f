"""Asking a connector, through the signal table of its source, to read tables beside the stream of changes."""

import json
import uuid
from collections.abc import Iterable

import psycopg

ASK = "INSERT INTO lake.signal (id, type, data) VALUES (%s, 'execute-snapshot', %s)"
POSITION = "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn"


def ask_for_snapshot(connection: psycopg.Connection[object], tables: Iterable[str]) -> int:
    """Commits the signal; a place in the log behind it, in bytes. tables: schema.table each."""
    data = {"data-collections": list(tables), "type": "incremental"}
    connection.execute(ASK, [f"lake-{uuid.uuid4()}", json.dumps(data)])
    connection.commit()
    row = connection.execute(POSITION).fetchone()
    assert isinstance(row, tuple)  # a SELECT without FROM has one row
    return int(row[0])
