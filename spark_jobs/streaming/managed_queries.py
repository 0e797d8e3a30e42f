"""All queries of one application. Each fails, waits and starts alone: one bad table never stops the others."""

import time
from typing import Any, Callable, Dict, List, Tuple

from spark_jobs.archive import writer as archive
from spark_jobs.runtime.errors import root_cause
from spark_jobs.runtime.status import Progress
from spark_jobs.streaming.managed_query import ManagedQuery
from spark_jobs.streaming.table_writer import TableWriter

Start = Callable[[ManagedQuery], Any]


class ManagedQueries:
    """By name. archives_at_once: how many archives may be in their first batch; release: gives up a table's path."""

    def __init__(self, progress: Progress, archives_at_once: int, release: Callable[[str], None]) -> None:
        self._progress = progress
        self._archives_at_once = archives_at_once
        self._release = release
        self._known: Dict[str, ManagedQuery] = {}

    def reconcile(self, wanted: Dict[str, Tuple[Any, Start]]) -> None:
        """Ends what is not wanted any more, and begins what is due. wanted: spec and start by name."""
        for name in [name for name in self._known if name not in wanted]:
            self._end(self._known.pop(name))
            self._progress.forget(name)
        due = [name for name, (spec, start) in wanted.items() if self._is_due(name, spec, start)]
        for name in self._few_archives(due):
            self._begin(name, self._known[name])

    def end_all(self) -> None:
        for managed in self._known.values():
            self._end(managed)

    def of_tables(self) -> Dict[str, ManagedQuery]:
        """The queries that write a table, once they were started."""
        return {name: managed for name, managed in list(self._known.items()) if managed.writer is not None}

    def writers(self) -> List[TableWriter]:
        """The writers of all tables that are written."""
        return [managed.writer for managed in self.of_tables().values() if managed.writer is not None]

    def nothing_to_do(self) -> bool:
        """True if no table that can go on has anything to do. Stuck tables hold nothing up.

        If all are stuck, because a server is away, all will have much to do as soon as it is back: False.
        """
        able = [managed for managed in self._known.values() if not managed.stuck()]
        return all(managed.idle() for managed in able) and bool(able or not self._known)

    def _is_due(self, name: str, spec: Any, start: Start) -> bool:
        """True if a query is to begin: it is new, changed, or has waited long enough for another try."""
        managed = self._known.get(name)
        if managed is None or managed.spec != spec:
            if managed is not None:
                self._end(managed)
            managed = self._known[name] = ManagedQuery(spec, start)
        now = time.time()
        if managed.query is not None and not managed.query.isActive:
            self._note_failure(name, managed, managed.query.exception(), now)
        return managed.query is None and now >= managed.retry_at

    def _few_archives(self, due: List[str]) -> List[str]:
        """The names without archives that must wait for others: each first batch takes seconds from the commits."""
        begin = [one for name, one in self._known.items() if name.startswith(archive.PREFIX) and one.begins()]
        room = max(0, self._archives_at_once - len(begin))
        waiting = [name for name in due if name.startswith(archive.PREFIX)][room:]
        return [name for name in due if name not in waiting]

    def _begin(self, name: str, managed: ManagedQuery) -> None:
        try:
            managed.begin()
            self._progress.update(name, state="running" if not managed.failures else "retrying")
        except Exception as error:  # py4j and urllib: whatever it is, this table alone waits
            self._note_failure(name, managed, error, time.time())

    def _note_failure(self, name: str, managed: ManagedQuery, error: Any, now: float) -> None:
        reason = root_cause(error)
        self._progress.update(name, state="stopped", reason=reason)
        managed.failed("{} stopped: {}".format(name, reason), now)

    def _end(self, managed: ManagedQuery) -> None:
        managed.end()
        if managed.table is not None:
            self._release(managed.table.path)
