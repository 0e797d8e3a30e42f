"""Drift: a difference between a source and what its capture relies on, and its remedy."""

from dataclasses import dataclass

from lake.config.definition import Database
from lake.config.names import command_line

BEHIND_S = 30.0  # a healthy capture has a change within five seconds (docs/measured.md)


@dataclass(frozen=True)
class Drift:
    """One difference. table is "schema.table", or empty where it concerns the whole database.

    lost: changes are missing, or will be, so tables (for a whole database, all) must be re-snapshotted. Otherwise
    it is enough to correct the difference.
    """

    database: str
    table: str
    what: str
    now: str
    lost: bool = False

    @property
    def gap(self) -> bool:
        """True if the stream of the whole database can't continue from its position."""
        return self.lost and not self.table


def gap(database: Database, what: str) -> Drift:
    return Drift(
        database.database, "", f"{what}; changes are lost", command_line("recover", database.database), lost=True
    )


def loss(database: Database, table: str, what: str) -> Drift:
    return Drift(database.database, table, f"{table} {what}", command_line("recover", database.database), lost=True)
