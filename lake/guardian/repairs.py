"""Reads tables again that lost changes, unless the definition says otherwise (on_drift)."""

import logging
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Set
from contextlib import suppress

from lake.clients import stream_status
from lake.config.definition import Database
from lake.config.environment import Environment
from lake.sources.drift import Drift
from lake.sources.engines import guard_of
from lake.state import dropped

LOG = logging.getLogger("guardian")
GREATEST_BYTES = 10 * 2**30  # of the tables of one repair
FIRST_S = 60.0
GREATEST_S = 3600.0
STOPPED = ("stopped", "retrying")
PATIENCE_S = 60.0  # with a table that stopped while it is read again


def lost_tables(database: Database, drifts: list[Drift], losing: Set[str] = frozenset()) -> list[str]:
    """The tables for which a re-snapshot is enough; none after a gap, which only `lake recover` repairs.

    It is not enough for those that lose changes on, that are not captured as they are defined, or that have no key.
    """
    gap = any(drift.gap for drift in drifts)
    keyless = {table.full_name for table in database.tables if table.without_key}
    unready = losing | keyless | {drift.table for drift in drifts if not drift.lost}
    return [] if gap else sorted({drift.table for drift in drifts if drift.lost and drift.table} - unready)


class Repairs:
    """Starts one command at a time, which also proves the result. Each failure doubles the wait.

    A command that cannot come to its end would keep all others waiting, and a transaction of the source open.
    """

    def __init__(self, home: Environment) -> None:
        self._home = home
        self._command: subprocess.Popen[bytes] | None = None
        self._subject: tuple[str, set[str]] = ("", set())  # of the command: its database, and the tables to read
        self._stuck_since: float | None = None
        self._waits: dict[str, tuple[float, float]] = {}  # by database: until when, and how long the next one is

    def attend(self, database: Database, drifts: list[Drift], losing: Set[str] = frozenset()) -> None:
        """Starts the repair of a database that needs one, unless its tables are too large for that."""
        if database.database in dropped.databases(self._home):
            self._recover(database)
        else:
            self._read_again(database, lost_tables(database, drifts, losing))

    def look_after(self, known: list[Database]) -> None:
        """Ends a command whose database has left, or one of whose tables stays stopped."""
        if not self._runs():
            return
        name, tables = self._subject
        database = next((one for one in known if one.database == name), None)
        if database and not tables & stopped(self._home, database):
            self._stuck_since = None
        elif self._stuck_since is None:
            self._stuck_since = time.monotonic()
        elif time.monotonic() - self._stuck_since >= PATIENCE_S:
            LOG.warning("%s: reading again is given up, a table has stopped or is no longer captured", name)
            self.end()

    def end(self) -> None:
        """Interrupts the command, and waits until it has cleaned up."""
        if self._command is not None and self._runs():
            self._command.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                self._command.wait(FIRST_S)

    def _runs(self) -> bool:
        return self._command is not None and self._command.poll() is None

    def _read_again(self, database: Database, tables: list[str]) -> None:
        if not tables:
            self._waits.pop(database.database, None)
        if database.on_drift != "repair" or not tables or stopped(self._home, database) & set(tables):
            return
        if self._must_wait(database.database):
            return
        size = guard_of(database).facts.size(self._home, database, tables)
        if size > GREATEST_BYTES:
            LOG.warning("%s: %s are not read again: about %d bytes", database.database, ", ".join(tables), size)
            return
        LOG.warning("%s: %s are read again", database.database, ", ".join(tables))
        self._start(["resnapshot", *(f"{database.database}.{table}" for table in tables)], database, tables)

    def _recover(self, database: Database) -> None:
        """Its slot was dropped by consent: a new one, and all tables anew."""
        if not self._must_wait(database.database):
            LOG.warning("%s is read again: its slot was dropped by lake down", database.database)
            self._start(["recover", database.database], database)

    def _must_wait(self, name: str) -> bool:
        if self._runs():
            return True
        until, wait = self._waits.get(name, (0.0, FIRST_S))
        if time.monotonic() < until:
            return True
        self._waits[name] = (time.monotonic() + wait, min(2 * wait, GREATEST_S))
        return False

    def _start(self, arguments: list[str], database: Database, tables: Iterable[str] = ()) -> None:
        command = [sys.executable, "-m", "lake.cli.main", *arguments]
        self._command = subprocess.Popen(command, cwd=self._home.root)  # it prints into the guardian's log
        self._subject, self._stuck_since = (database.database, set(tables)), None


def stopped(home: Environment, database: Database) -> set[str]:
    """The tables of a database that cannot go on now, schema.table."""
    facts = stream_status.reported(home)
    found = {topic for name, topic in database.hudi_tables.items() if facts.get(name, {}).get("state") in STOPPED}
    return {table.full_name for table in database.tables if table.topic(database.database) in found}
