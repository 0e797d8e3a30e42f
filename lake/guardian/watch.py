"""The guardian's loop: inspects every captured source, reports drift, stops a connector after a gap.

python -m lake.guardian.watch
"""

import logging
import signal
import threading
import time
from contextlib import suppress

from lake.clients.connect import Connect, states
from lake.clients.guardian_report import write
from lake.config.definition import Database, load_databases
from lake.config.environment import Environment, load_environment
from lake.config.errors import LakeError
from lake.config.lock import is_locked
from lake.guardian import leftovers, protect, rules, supervisors
from lake.guardian.inspect import Inspection, applied_tables, inspect
from lake.guardian.lag import LagTracker
from lake.guardian.newcomers import Newcomers
from lake.guardian.problems import Problems
from lake.guardian.progress import CaptureProgress
from lake.guardian.repairs import Repairs
from lake.guardian.restarts import Restarts
from lake.guardian.truncates import Truncates
from lake.plan.leaving import Leaving, leaving
from lake.rendering.pipeline import read_pipeline
from lake.sources.drift import Drift
from lake.sources.engines import engine_of, guard_of
from lake.state import baseline
from lake.state.resync import LOCK, pending

LOG = logging.getLogger("guardian")
INSPECT_EVERY_S = 5.0
LEFTOVERS_EVERY_S = 20.0
DEFINITION = "the definition cannot be read"


class Guardian:
    """Remembers the last drifts: a drift that is seen only once may be a source between two steps of a change."""

    def __init__(self, home: Environment) -> None:
        self._home = home
        self._connect = Connect(home)
        self._restarts = Restarts(self._connect)
        self.repairs = Repairs(home)
        self._truncates = Truncates(home)
        self._seen: dict[str, set[Drift]] = {}
        self._reported: dict[str, list[Drift]] = {}
        self._lags: dict[str, LagTracker] = {}
        self._progress: dict[str, CaptureProgress] = {}
        self._problems = Problems()
        self._leftovers: list[Drift] = []
        self._look_again_at = 0.0
        self.newcomers = Newcomers(home)
        self.known: list[Database] = []  # the definition as it could be read last
        self.stopping = threading.Event()

    def run(self) -> None:
        """Inspects all sources every few seconds until it is stopped."""
        while not self.stopping.wait(INSPECT_EVERY_S):
            problem = ""
            try:
                defined = load_databases(self._home.root, may_be_none=True)
                left = leaving(self._home, defined)
                self.known = [one for one in left.joined(defined) if engine_of(one).guard]
            except LakeError as error:
                problem = str(error)
            else:
                self._look(left)
            self._problems.tell(DEFINITION, problem)

    def _look(self, left: Leaving) -> None:
        self.forget_departed({one.database for one in self.known})
        self.repairs.look_after(self.known)
        self._truncates.note(self._applied())
        found = [drift for one in self.known for drift in self.attend(one)]
        found += [*rules.of_leaving(left.changes), *self._undefined(), *self._left_over()]
        write(self._home, [*found, *self.newcomers.drifts])

    def _applied(self) -> list[Database]:
        pipeline = read_pipeline(self._home)
        return [one for one in self.known if applied_tables(one, pipeline)]

    def _undefined(self) -> list[Drift]:
        """Connectors that capture for the lake, and that nothing defines."""
        with suppress(LakeError):
            return list(rules.of_undefined({one.connector for one in self.known}, self._connect.running()))
        return []

    def _left_over(self) -> list[Drift]:
        """What the lake left in the known servers, looked for now and then: it asks every database of each."""
        if time.monotonic() >= self._look_again_at:
            self._look_again_at = time.monotonic() + LEFTOVERS_EVERY_S
            self._leftovers = leftovers.of_servers(self._home, self.known)
        return self._leftovers

    def forget_departed(self, defined: set[str]) -> None:
        """Deletes baselines that are neither defined nor applied: git may remove a definition for a moment."""
        applied = {one["database"] for one in read_pipeline(self._home).get("tables", [])}
        for name in set(baseline.databases(self._home)) - defined - applied:
            baseline.forget(self._home, name)

    def attend(self, database: Database) -> list[Drift]:
        """The drifts of one database; the previous ones while a service does not answer."""
        problem = ""
        try:
            if self._connect.config(database.connector) is None:
                return self._without_connector(database)
            found = inspect(self._home, database)
            confirmed = self._confirmed(found)
            at_work = is_locked(self._home.data / LOCK)  # a command repairs this gap now
            stops = database.on_drift == "stop"
            ends = [drift.what for drift in confirmed if drift.gap or (stops and drift.lost)]
            self._act(found, [] if at_work else ends, at_work)
            if not at_work:
                self.repairs.attend(database, confirmed, found.losing)
            confirmed += self._late(found)
            self._reported[database.database] = [*confirmed, *([] if at_work else pending(self._home, database))]
        except LakeError as error:
            problem = str(error)
            self._protect(database)
        finally:
            self._problems.tell(database.database, problem)
        return self._reported.get(database.database, [])

    def _without_connector(self, database: Database) -> list[Drift]:
        """It may not be created yet. If tables are applied it was deleted, and the source keeps its log for it."""
        self._reported.pop(database.database, None)
        self._lags.pop(database.database, None)
        if not applied_tables(database, read_pipeline(self._home)):
            baseline.forget(self._home, database.database)
            return []
        self._protect(database)
        return [rules.without_connector(database)]

    def _late(self, found: Inspection) -> list[Drift]:
        """Drift for the lag; none during a first snapshot, which captures nothing however long it takes."""
        lag = self._lags.setdefault(found.database.database, LagTracker())
        age_s = lag.age_s(found.capture.captured if found.capture else None, found.observed.server.position)
        late = list(rules.of_lag(found.database, age_s))
        return late if late and not self._connect.snapshotting(found.database.connector) else []

    def _confirmed(self, found: Inspection) -> list[Drift]:
        """The drifts that the previous inspection found, too."""
        before = self._seen.get(found.database.database, set())
        self._seen[found.database.database] = set(found.drifts)
        return [drift for drift in found.drifts if drift in before]

    def _act(self, found: Inspection, gaps: list[str], at_work: bool) -> None:
        database, environment, limit = found.database, self._home, guard_of(found.database).limit
        progress = self._progress.setdefault(database.database, CaptureProgress())
        is_still = progress.still_s(found.capture, found.position) >= limit.STILL_S and not at_work
        reasons = [*gaps, *limit.reasons_to_stop(environment, database, found.capture, is_still)]
        found_states = states(self._connect.status(database.connector)) if reasons else []
        # A failed connector shows its reason, which stopping it would hide.
        if "RUNNING" in found_states and "FAILED" not in found_states:
            LOG.error("%s is stopped: %s", database.connector, "; ".join(reasons))
            self._connect.tell(database.connector, "stop")
        if not reasons and not at_work:
            self._restarts.attend(database.connector, found.capture is None or found.capture.active)
        limit.enforce(environment, database, found.capture)

    def _protect(self, database: Database) -> None:
        """Enforces the limit alone: the log grows most while Connect is down and no connector can be stopped."""
        environment, guard = self._home, guard_of(database)
        with suppress(LakeError):
            guard.limit.enforce(environment, database, guard.facts.read_capture(environment, database))


def main() -> None:
    """Runs until SIGTERM."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    home = load_environment()
    guardian = Guardian(home)
    signal.signal(signal.SIGTERM, lambda *_: guardian.stopping.set())
    threads = (
        (supervisors.keep, home),
        (protect.keep, home, lambda: guardian.known),
        (guardian.newcomers.keep, lambda: guardian.known),
    )
    for keep, *what in threads:
        threading.Thread(target=keep, args=(*what, guardian.stopping), daemon=True).start()
    try:
        guardian.run()
    finally:
        guardian.repairs.end()


if __name__ == "__main__":
    main()
