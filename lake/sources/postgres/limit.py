"""The limit of the log that a slot may keep, and what the guardian does above it. The source comes first."""

import logging
from collections.abc import Iterator

from lake.config.definition import Database
from lake.config.environment import Environment
from lake.sources.drift import Drift
from lake.sources.postgres import capture, names
from lake.sources.postgres.facts import Slot

LOG = logging.getLogger("guardian")
UNLIMITED = "the server keeps its log without a limit for a lake that is away (max_slot_wal_keep_size is -1)"
SET_LIMIT = (
    "ALTER SYSTEM SET max_slot_wal_keep_size = '16GB'; SELECT pg_reload_conf()"
    " (Amazon RDS and Aurora: in the parameter group)"
)
ACCEPT_UNLIMITED = "or accept it: unlimited_log: true, below source (lake init: --yes)"
STILL_S = 300.0  # PostgreSQL sends nothing while it skips a large transaction of other tables


def of_limit(environment: Environment, database: Database, slot: Slot | None) -> Iterator[Drift]:
    """A warning if the slot retains too much log on the source's disk."""
    wal = environment.wal
    if _retained(slot) > wal.warn_bytes:
        what = f"slot {names.slot(database)} retains more than {wal.warn_bytes:,} bytes of log"
        now = (
            f"see why the connector is behind: lake status; above {wal.pause_bytes:,} it is stopped "
            f"unless it makes progress, above {wal.drop_bytes:,} the slot is dropped"
        )
        yield Drift(database.database, "", what, now)


def reasons_to_stop(environment: Environment, database: Database, slot: Slot | None, is_still: bool) -> list[str]:
    """A connector that reads keeps files for large transactions on the source's disk, too: stopping frees those.

    One that makes progress drains the slot, and is stopped only where the slot is to be dropped.
    """
    wal, retained = environment.wal, _retained(slot)
    spent = retained > (wal.pause_bytes if is_still else wal.drop_bytes)
    return [f"slot {names.slot(database)} retains {retained:,} bytes of log"] if spent else []


def enforce(environment: Environment, database: Database, slot: Slot | None) -> None:
    """Drops the slot once it is above the last limit and nobody reads it; the gap is reported from then on."""
    if _retained(slot) <= environment.wal.drop_bytes:
        return
    LOG.error("slot %s is dropped: it retains %s bytes of log", names.slot(database), f"{_retained(slot):,}")
    if not capture.reset(environment, database):
        LOG.warning("slot %s is still read; the next inspection tries again", names.slot(database))


def _retained(slot: Slot | None) -> int:
    """Bytes; 0 without a slot."""
    return slot.retained_bytes or 0 if slot else 0
