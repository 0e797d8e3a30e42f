"""Commit slots: how many tables commit at once on the general road, and which of them is next.

A commit keeps about one core busy from end to end. If more commits run than there are cores, all of them take as long
as the slowest. If they run one after the other, no commit ends later, and most end sooner. A batch must not be cut
before its table has a slot, or it misses the changes that are committed while it waits.
"""

import threading
import time
from collections import deque
from contextlib import contextmanager
from typing import Callable, Deque, Iterator, List, Set

STARVATION_S = 8.0  # a huge batch must not stop the small tables: after this time a table continues without a slot


class CommitSlots:
    """Thread-safe; tables get slots in the order of their requests."""

    def __init__(self, max_concurrent: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_concurrent = max_concurrent
        self._clock = clock
        self._changed = threading.Condition()
        self._waiting: Deque[str] = deque()
        self._holders: Set[str] = set()

    @contextmanager
    def slot(self, name: str) -> Iterator[None]:
        """A context for one commit."""
        with self._changed:
            self._await(name)
            self._holders.add(name)
        try:
            yield
        finally:
            with self._changed:
                self._holders.discard(name)
                self._changed.notify_all()

    def busy(self) -> bool:
        """True if a table commits, or waits until it may."""
        with self._changed:
            return bool(self._waiting or self._holders)

    def holders(self) -> Set[str]:
        """The tables that have a slot."""
        with self._changed:
            return set(self._holders)

    def waiting(self) -> List[str]:
        """The tables that wait for a slot, the next one first."""
        with self._changed:
            return list(self._waiting)

    def _await(self, name: str) -> None:
        deadline = self._clock() + STARVATION_S
        self._waiting.append(name)
        while not self._is_next(name) and self._clock() < deadline:
            self._changed.wait(max(0.001, deadline - self._clock()))
        self._waiting.remove(name)
        self._changed.notify_all()

    def _is_next(self, name: str) -> bool:
        free = self._max_concurrent - len(self._holders)
        return name in list(self._waiting)[: max(0, free)]
