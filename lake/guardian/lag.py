"""For how long Kafka has lacked what a source committed."""

import time
from collections import deque

STEP = 20  # marks are a part of the age apart: a weekend of lag is not a mark for each inspection


class LagTracker:
    """Where the log ended at each inspection, as far as Kafka has not got there. spark_jobs/kafka/lag.py does the same
    for a table and its topic.

    A connector that does its work acknowledges its own heartbeat, so an idle source has no lag.
    """

    def __init__(self) -> None:
        self._marks: deque[tuple[float, int]] = deque()

    def age_s(self, captured: int | None, position: int) -> float:
        """How long ago what Kafka lacks was in the log, seconds; 0 without a capture, which other rules report."""
        now = time.monotonic()
        if captured is None or (self._marks and position < self._marks[-1][1]):
            self._marks.clear()  # another log
        if not self._marks or now - self._marks[-1][0] >= (now - self._marks[0][0]) / STEP:
            self._marks.append((now, position))
        while self._marks and captured is not None and self._marks[0][1] <= captured:
            self._marks.popleft()
        return now - self._marks[0][0] if self._marks else 0.0
