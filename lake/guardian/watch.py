"""The guardian's loop: looks at every captured source, tells what drifts, stops what would go on behind a gap.

python -m lake.guardian.watch
"""

import logging
import signal
import threading
from contextlib import suppress

import psycopg

from lake.clients.connect import Connect, states
from lake.clients.guardian_report import write
from lake.config.definition import Database, load_databases
from lake.config.errors import LakeError
from lake.config.home import Home, load_home
from lake.config.lock import is_locked
from lake.guardian import supervisors
from lake.guardian.inspect import Look, applied_tables, look
from lake.guardian.restarts import Restarts
from lake.rendering.pipeline import read_pipeline
from lake.sources.drift import Drift
from lake.sources.postgres import rules, wal_limit
from lake.sources.postgres.slot_lag import Delay
from lake.sources.postgres.slot_progress import Advance
from lake.state import baseline
from lake.state.resync import LOCK, pending

LOG = logging.getLogger("guardian")
LOOK_EVERY_S = 5.0


class Watch:
    """Remembers what it saw last: what is seen once may be a source between two of its own steps."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._connect = Connect(home.connect)
        self._restarts = Restarts(self._connect)
        self._seen: dict[str, set[Drift]] = {}
        self._told: dict[str, list[Drift]] = {}
        self._delays: dict[str, Delay] = {}
        self._advances: dict[str, Advance] = {}
        self.stopping = threading.Event()

    def run(self) -> None:
        """Until stopped."""
        while not self.stopping.wait(LOOK_EVERY_S):
            try:
                defined = load_databases(self._home.root)
            except LakeError as error:
                LOG.warning("%s", error)
                continue
            self._forget_departed({one.database for one in defined})
            write(self._home, [drift for one in defined for drift in self.attend(one)])

    def _forget_departed(self, defined: set[str]) -> None:
        """Those that `lake apply` has let go, too: a definition may be away for a moment, while git changes files."""
        applied = {one["database"] for one in read_pipeline(self._home.environment).get("tables", [])}
        for name in set(baseline.databases(self._home)) - defined - applied:
            baseline.forget(self._home, name)

    def attend(self, database: Database) -> list[Drift]:
        """What is to be told of one database: the last word while it can't be asked."""
        try:
            if self._connect.config(database.connector) is None:
                return self._without_connector(database)
            found = look(self._home, database)
            told = self._confirmed(found)
            at_work = is_locked(self._home.data / LOCK)  # a command, which knows of the gap that it mends
            self._act(found, [] if at_work else [drift.what for drift in told if drift.gap], at_work)
            told += self._late(found)
            self._told[database.database] = [*told, *([] if at_work else pending(self._home, database))]
        except (LakeError, psycopg.Error) as error:
            LOG.warning("%s: %s", database.database, error)
            self._protect(database)
        return self._told.get(database.database, [])

    def _without_connector(self, database: Database) -> list[Drift]:
        """It may be yet to be made; where tables are applied it was deleted, and its slot keeps the log."""
        self._told.pop(database.database, None)
        self._delays.pop(database.database, None)
        if not applied_tables(database, read_pipeline(self._home.environment)):
            baseline.forget(self._home, database.database)
            return []
        self._protect(database)
        return [rules.without_connector(database)]

    def _late(self, found: Look) -> list[Drift]:
        """A slot confirms nothing while a first snapshot is read, however long that takes."""
        delay = self._delays.setdefault(found.database.database, Delay())
        late = list(rules.of_delay(found.database, delay.age_s(found.there.server, found.slot)))
        return late if late and not self._connect.snapshotting(found.database.connector) else []

    def _confirmed(self, found: Look) -> list[Drift]:
        """What was seen in the look before, too."""
        before = self._seen.get(found.database.database, set())
        self._seen[found.database.database] = set(found.drifts)
        return [drift for drift in found.drifts if drift in before]

    def _act(self, found: Look, gaps: list[str], at_work: bool) -> None:
        database, limits = found.database, self._home.environment.wal
        still_s = self._advances.setdefault(database.database, Advance()).still_s(found.slot, found.position)
        still = still_s >= wal_limit.STILL_S and not at_work
        reasons = [*gaps, *wal_limit.reasons_to_stop(database, found.slot, limits, still)]
        if reasons and self._goes_on(database):
            LOG.error("%s is stopped: %s", database.connector, "; ".join(reasons))
            self._connect.tell(database.connector, "stop")
        if not reasons and not at_work:
            self._restarts.attend(database.connector, found.slot is None or found.slot.active)
        wal_limit.enforce(self._home, database, found.slot)

    def _protect(self, database: Database) -> None:
        """The log grows most while Connect is away, and nobody is left to be stopped: the slot is looked at alone."""
        with suppress(LakeError, psycopg.Error):
            wal_limit.enforce(self._home, database, wal_limit.read(self._home, database))

    def _goes_on(self, database: Database) -> bool:
        """Whether it reads; one that failed says why, and would not say it any more once it is stopped."""
        found = states(self._connect.status(database.connector))
        return "RUNNING" in found and "FAILED" not in found


def main() -> None:
    """Runs until SIGTERM."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    home = load_home()
    watch = Watch(home)
    signal.signal(signal.SIGTERM, lambda *_: watch.stopping.set())
    threading.Thread(target=supervisors.keep, args=(home, watch.stopping), daemon=True).start()
    watch.run()


if __name__ == "__main__":
    main()
