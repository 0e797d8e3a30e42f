"""The budget of log that a slot may keep: what the guardian does when it is spent. The source is protected first."""

import logging

import psycopg

from lake.config.definition import Database
from lake.config.environment import Wal
from lake.config.home import Home
from lake.sources.postgres import facts
from lake.sources.postgres.catalog import connect_source
from lake.sources.postgres.facts import Slot

LOG = logging.getLogger("guardian")
STILL_S = 300.0  # PostgreSQL may skip a large transaction of other tables without a word
DROP = "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = %s AND NOT active"


def read(home: Home, database: Database) -> Slot | None:
    """The slot as PostgreSQL has it, for when Kafka Connect does not answer. Raises as connect_source."""
    with connect_source(home.environment, database.database) as connection:
        return facts.read_slot(connection, database.slot)


def reasons_to_stop(database: Database, slot: Slot | None, budget: Wal, still: bool) -> list[str]:
    """A connector that reads keeps files for large transactions on the source's disk, too: stopping frees those.

    still: it comes no further. One that does drains the slot, and is stopped only where the slot is to be dropped.
    """
    spent = _retained(slot) > (budget.pause_bytes if still else budget.drop_bytes)
    return [f"slot {database.slot} retains {_retained(slot):,} bytes of log"] if spent else []


def enforce(home: Home, database: Database, slot: Slot | None) -> None:
    """Drops the slot once it is above the last bound and nobody reads it; the gap is told from then on."""
    if _retained(slot) <= home.environment.wal.drop_bytes:
        return
    LOG.error("slot %s is dropped: it retains %s bytes of log", database.slot, f"{_retained(slot):,}")
    try:
        with connect_source(home.environment, database.database) as connection:
            connection.execute(DROP, [database.slot])
    except psycopg.errors.ObjectInUse:
        LOG.warning("slot %s is still read; the next look tries again", database.slot)


def _retained(slot: Slot | None) -> int:
    """Bytes; 0 without a slot."""
    return slot.retained_bytes or 0 if slot else 0
