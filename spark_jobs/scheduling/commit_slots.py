"""Commit slots: how many tables commit at once, and which of them is next.

A commit keeps about one core busy from end to end. If more commits run than there are cores, all of them take as long
as the slowest. If they run one after the other, no commit ends later, and most end sooner. A batch must not be cut
before its table has a slot, or it misses the changes that are committed while it waits. So a table waits after its
commit, and its slot is then kept for the short time that Spark needs to cut the next batch: 0.1 s, on a slow machine or
in a job's first minute three times as long.
"""

import threading
import time
from collections import deque
from contextlib import contextmanager
from typing import Callable, Deque, Dict, Iterator, List

KEPT_S, KEPT_AT_MOST_S = 0.25, 1.0  # a table without changes gives its slot back after this
CUTS = 5  # the fastest of this many tells how long cutting takes: the others may have waited for changes
STARVATION_S = 8.0  # a huge batch must not stop the small tables: after this time a table continues without a slot


class CommitSlots:
    """Thread-safe; tables get slots in the order of their requests."""

    def __init__(self, max_concurrent: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_concurrent = max_concurrent
        self._clock = clock
        self._changed = threading.Condition()
        self._waiting: Deque[str] = deque()
        self._ends: Dict[str, float] = {}  # who has a slot, and when it ends by itself
        self._given: Dict[str, float] = {}  # since when
        self._cuts: Deque[float] = deque(maxlen=CUTS)  # seconds from there to the batch

    @contextmanager
    def slot(self, name: str) -> Iterator[None]:
        """A context for one commit."""
        with self._changed:
            if name in self._given:
                self._cuts.append(self._clock() - self._given.pop(name))
            if name not in self.holders():
                self._await(name)
            self._ends[name] = float("inf")
        try:
            yield
        finally:
            self._end(name)

    def await_next(self, name: str) -> None:
        """Returns when the table has a slot again, which is then kept for a while."""
        with self._changed:
            self._await(name)
            self._given[name] = self._clock()
            self._ends[name] = self._given[name] + self._kept_s()

    def busy(self) -> bool:
        """True if a table commits, or waits until it may."""
        with self._changed:
            return bool(self._waiting) or float("inf") in self.holders().values()

    def holders(self) -> Dict[str, float]:
        """The tables that have a slot, with the time at which it ends by itself."""
        with self._changed:
            now = self._clock()
            self._ends = {name: end for name, end in self._ends.items() if end > now}
            return self._ends

    def waiting(self) -> List[str]:
        """The tables that wait for a slot, the next one first."""
        with self._changed:
            return list(self._waiting)

    def _kept_s(self) -> float:
        """How long a slot is kept. A batch that comes later was cut already, and waits for a whole round."""
        fastest = min(self._cuts, default=KEPT_AT_MOST_S)
        return min(max(KEPT_S, 3 * fastest), KEPT_AT_MOST_S)

    def _end(self, name: str) -> None:
        with self._changed:
            self._ends.pop(name, None)
            self._changed.notify_all()

    def _await(self, name: str) -> None:
        deadline = self._clock() + STARVATION_S
        self._waiting.append(name)
        while not self._is_next(name) and self._clock() < deadline:
            self._changed.wait(self._until_something_ends(deadline))
        self._waiting.remove(name)
        self._changed.notify_all()

    def _is_next(self, name: str) -> bool:
        free = self._max_concurrent - len(self.holders())
        return name in list(self._waiting)[: max(0, free)]

    def _until_something_ends(self, deadline: float) -> float:
        return max(0.001, min([deadline, *self.holders().values()]) - self._clock())
