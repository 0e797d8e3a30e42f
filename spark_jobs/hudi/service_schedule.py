"""When the table services of one table are due. The writer and the services share it, from two threads."""

import threading
import time
from typing import NamedTuple

QUIET_S = 5.0
STALE_S = 300.0
OVERDUE_S = 1800.0
JUST_SERVED = 20  # commits at most
WHERE_ROWS_MOVE = 4  # times as often: a commit takes 3 s after a compaction, 8 s after 60 commits (docs/measured.md)
LOG_BYTES = 256 * 1024 * 1024  # of values: a query holds the log of a file slice in memory, whatever its limits
RETRY_S = 10.0
RETRY_MAX_S = 60.0


class Unserved(NamedTuple):
    """The commits and bytes of values since the last compaction or cleaning."""

    commits: int
    size: int


class ServiceSchedule:
    """kind: cow or mor; rows_move: True if the table has partitions; unserved: from its timeline."""

    def __init__(self, kind: str, rows_move: bool, unserved: Unserved, committed_at: float) -> None:
        self._kind = kind
        self._rows_move = rows_move
        self._lock = threading.Lock()
        self.unserved = unserved
        self._committed_at = committed_at  # rows, not only offsets
        self._counted_at = 0.0
        self._due_at = 0.0
        self._failures = 0  # in a row

    def committed(self, size: int, has_rows: bool) -> None:
        """Counts one more commit. size: its bytes of values."""
        with self._lock:
            self.unserved = Unserved(self.unserved.commits + 1, self.unserved.size + size)
            if has_rows:
                self._committed_at = time.time()

    def served(self, before: Unserved) -> None:
        """Counts a round of services. before: what was unserved when it began; there may be later commits."""
        with self._lock:
            now = self.unserved
            self.unserved = Unserved(now.commits - before.commits, now.size - before.size)

    def is_due(self, every: int) -> bool:
        """True after `every` commits. A table with a log is also due when the log is large, and sooner if rows move.

        The commit of a partitioned table reads the file slices that rows leave, including their logs.
        """
        commits, size = self.unserved
        if self._kind != "mor":
            return commits >= every
        return commits * (WHERE_ROWS_MOVE if self._rows_move else 1) >= every or size >= LOG_BYTES

    def is_count_due(self, now: float) -> bool:
        """True if the live rows of a changed table are to be counted: once it is quiet, and every STALE_S if it is not.

        Then it waits for a compaction, if one is near: merging the log files of many commits takes long.
        """
        with self._lock:
            quiet = now >= self._committed_at + QUIET_S
            stale = now >= self._counted_at + STALE_S and self.unserved.commits <= JUST_SERVED
            overdue = now >= self._counted_at + OVERDUE_S
            return self._counted_at < self._committed_at and (quiet or stale or overdue)

    def counted(self, now: float) -> None:
        self._counted_at = now

    def may_try(self, now: float) -> bool:
        """True if the wait after a failure is over."""
        return now >= self._due_at

    def tried(self, failed: bool, now: float) -> None:
        """The next wait is longer after each failure in a row: each failure leaves a rollback to do."""
        self._failures = self._failures + 1 if failed else 0
        self._due_at = now + (min(RETRY_S * 2.0 ** (self._failures - 1), RETRY_MAX_S) if failed else 0.0)
