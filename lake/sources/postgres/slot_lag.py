"""Delay: for how long Kafka has lacked what a source committed."""

import time
from collections import deque

from lake.sources.postgres.facts import Server, Slot

STEP = 20  # marks are a part of the age apart: a weekend behind is not a mark for each look


class Delay:
    """Where the log ended at each look, as far as the slot has not confirmed it.

    A connector that does its work confirms its own heartbeat, so an idle source is not behind.
    """

    def __init__(self) -> None:
        self._marks: deque[tuple[float, int]] = deque()

    def age_s(self, server: Server, slot: Slot | None) -> float:
        """How long ago what is not confirmed was in the log, seconds; 0 without a slot, which other rules tell."""
        if self._marks and server.position < self._marks[-1][1]:
            self._marks.clear()  # another log
        now = time.monotonic()
        if not self._marks or now - self._marks[-1][0] >= (now - self._marks[0][0]) / STEP:
            self._marks.append((now, server.position))
        confirmed = slot.confirmed if slot else None
        while self._marks and (confirmed is None or self._marks[0][1] <= confirmed):
            self._marks.popleft()
        return now - self._marks[0][0] if self._marks else 0.0
