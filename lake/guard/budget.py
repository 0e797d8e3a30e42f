"""The budget of log that a slot may keep: what the guardian does when it is spent. The source is protected first."""

import logging

import psycopg

from lake.environment import Wal
from lake.guard.look import Look
from lake.local.home import Home
from lake.source_catalog import connect_source

LOG = logging.getLogger("guardian")
DROP = "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = %s AND NOT active"


def retained(found: Look) -> int:
    """Bytes; 0 without a slot."""
    return found.slot.retained_bytes or 0 if found.slot else 0


def reasons_to_stop(found: Look, budget: Wal) -> list[str]:
    """A connector that reads keeps files for large transactions on the source's disk, too: stopping frees those."""
    spent = retained(found) > budget.pause_bytes
    return [f"slot {found.database.slot} retains {retained(found):,} bytes of log"] if spent else []


def enforce(found: Look, home: Home) -> None:
    """Drops the slot once it is above the last bound and nobody reads it; the gap is told from then on."""
    if retained(found) <= home.environment.wal.drop_bytes:
        return
    LOG.error("slot %s is dropped: it retains %s bytes of log", found.database.slot, f"{retained(found):,}")
    try:
        with connect_source(home.environment, found.database.database) as connection:
            connection.execute(DROP, [found.database.slot])
    except psycopg.errors.ObjectInUse:
        LOG.warning("slot %s is still read; the next look tries again", found.database.slot)
