"""All queries of one application. Each fails, waits and starts alone: one bad table never stops the others."""

import logging
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from spark_jobs.archive.writer import PREFIX
from spark_jobs.events.schema_evolution import SchemaRefused
from spark_jobs.events.toast_from_table import Unfillable
from spark_jobs.hudi.table import HudiTable
from spark_jobs.kafka.lag import LagTracker
from spark_jobs.runtime.errors import root_cause
from spark_jobs.streaming.application import Application
from spark_jobs.streaming.table_writer import PoisonMessage, TableWriter

LOG = logging.getLogger("stream")
# Pauses before the next starts of a query that fails; the last one repeats.
RETRY_S = (1, 2, 5, 10, 30)
# They follow where only other messages, or another definition, can help, and nothing of that has come.
UNCHANGED_S = (60, 120, 240, 480, 600)
REFUSED = (PoisonMessage, SchemaRefused, Unfillable)


class ManagedQuery:
    """A query that should run.

    spec: if it changes, a new query replaces this one
    start: starts the query and returns it; it sets `writer` if the query writes a table
    """

    def __init__(self, name: str, spec: Any, start: "Callable[[ManagedQuery], Any]") -> None:
        self.name = name
        self.spec = spec
        self.writer: Optional[TableWriter] = None
        self.lag = LagTracker()
        self.query: Any = None
        self.failures = 0
        self.retry_at = 0.0
        self._failed_at = 0.0
        self._ends: Dict[int, int] = {}
        self._start = start
        self._began_from: Dict[str, Any] = {}

    def begin(self) -> None:
        """Starts the query, and records the position from which it continues."""
        self.query = self._start(self)
        self._began_from = self._position()

    def retire(self) -> None:
        """After this, the current writer writes nothing more."""
        if self.writer is not None:
            self.writer.retire()

    def failed(self, reason: str, refused: bool = False) -> None:
        """Delays the next start: a table that can't continue must not slow down the others.

        refused: what it has read can't be applied, and will be refused again.
        """
        if self._position() != self._began_from:
            self.failures = 0
        pauses = RETRY_S + UNCHANGED_S if refused else RETRY_S
        wait = pauses[min(self.failures, len(pauses) - 1)]
        self.failures, self._failed_at, self.query = self.failures + 1, time.time(), None
        self.retry_at = self._failed_at + wait
        LOG.error("%s stopped: %s; next try in %d s", self.name, reason, wait)

    def note_ends(self, ends: Dict[int, int]) -> None:
        """The next offsets of the topic. New messages may be what a stopped table waits for."""
        if ends and ends != self._ends:
            self._ends = ends
            self.hasten()

    def hasten(self) -> None:
        """Something has changed: the present pause, and those after it, are no longer than RETRY_S."""
        self.failures = min(self.failures, len(RETRY_S) - 1)
        self.retry_at = min(self.retry_at, self._failed_at + RETRY_S[-1])

    def idle(self) -> bool:
        """True if the last trigger of the query found nothing to do."""
        return self._last.get("numInputRows") == 0

    def stuck(self) -> bool:
        """True if the query failed, and waits for its next try."""
        return self.query is None and self.failures > 0

    def is_beginning_archive(self) -> bool:
        """True while an archive is in its first batch."""
        return self.name.startswith(PREFIX) and self.query is not None and not self._last

    @property
    def table(self) -> Optional[HudiTable]:
        """The table that the query writes; None for an archive, and before the first start."""
        return self.writer.table if self.writer is not None else None

    def reached(self) -> Dict[str, int]:
        """The next offset of each partition.

        Messages before it are committed, or were set aside or dropped where there was nothing to commit.
        """
        if self.table is None:
            return {}
        committed, sources = self.table.reached["offsets"], self._last.get("sources") or [{}]
        read = (sources[0].get("endOffset") or {}).get(self.table.source.topic, {})
        return {part: max(committed.get(part, 0), read.get(part, 0)) for part in {*committed, *read}}

    @property
    def _last(self) -> Dict[str, Any]:
        """Spark's report on the last trigger; {} before the first one has ended."""
        return (self.query.lastProgress if self.query is not None else None) or {}

    def _position(self) -> Dict[str, Any]:
        return self.table.position if self.table is not None else {}


Start = Callable[[ManagedQuery], Any]


class ManagedQueries:
    """The queries by name."""

    def __init__(self, app: Application) -> None:
        self._app = app
        self._known: Dict[str, ManagedQuery] = {}

    def reconcile(self, wanted: Dict[str, Tuple[Any, Start]]) -> None:
        """Ends the queries that are no longer wanted, and starts those that are due. wanted: spec and start by name."""
        for name in [name for name in self._known if name not in wanted]:
            self._end(self._known.pop(name))
            self._app.progress.forget(name)
        due = [managed for managed in [self._current(name, *wanted[name]) for name in wanted] if self._is_due(managed)]
        for managed in self._without_waiting_archives(due):
            self._begin(managed)

    def end_all(self) -> None:
        for managed in self._known.values():
            self._end(managed)

    def of_tables(self) -> List[Tuple[ManagedQuery, TableWriter]]:
        """The queries that write a table and were started, each with its writer."""
        return [(one, one.writer) for one in list(self._known.values()) if one.writer is not None]

    def nothing_to_do(self) -> bool:
        """True if no table that can continue has anything to do. Stuck tables are ignored.

        False if all are stuck: a server does not answer, and all will have much to do when it is back.
        """
        able = [managed for managed in self._known.values() if not managed.stuck()]
        return all(managed.idle() for managed in able) and bool(able or not self._known)

    def _current(self, name: str, spec: Any, start: Start) -> ManagedQuery:
        """The query of this name and spec. One with another spec ends."""
        managed = self._known.get(name)
        if managed is None or managed.spec != spec:
            if managed is not None:
                self._end(managed)
            managed = self._known[name] = ManagedQuery(name, spec, start)
        return managed

    def _is_due(self, managed: ManagedQuery) -> bool:
        """True if a query does not run, and has waited long enough for its next try."""
        if managed.query is not None and not managed.query.isActive:
            self._note_failure(managed, managed.query.exception())
        return managed.query is None and time.time() >= managed.retry_at

    def _without_waiting_archives(self, due: List[ManagedQuery]) -> List[ManagedQuery]:
        """Leaves out archives while others are in their first batch, which takes seconds from the commits."""
        beginning = sum(one.is_beginning_archive() for one in self._known.values())
        archives = [one for one in due if one.name.startswith(PREFIX)]
        waiting = archives[max(0, self._app.archives.at_once - beginning) :]
        return [one for one in due if one not in waiting]

    def _begin(self, managed: ManagedQuery) -> None:
        try:
            managed.begin()
            self._app.progress.update(managed.name, state="running" if not managed.failures else "retrying")
        except Exception as error:  # py4j and urllib: for any error, only this table waits
            self._note_failure(managed, error)

    def _note_failure(self, managed: ManagedQuery, error: Any) -> None:
        reason = root_cause(error)
        self._app.progress.update(managed.name, state="stopped", reason=reason)
        managed.failed(reason, isinstance(error, REFUSED))

    def _end(self, managed: ManagedQuery) -> None:
        """Stops the query. After this it writes nothing, and other jobs may write its table."""
        if managed.query is not None:
            managed.query.stop()
        managed.retire()
        if managed.table is not None:
            self._app.leases.release(managed.table.path)
