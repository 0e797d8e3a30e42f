"""The age of the oldest change of a source that Kafka does not have."""

import time
from collections import deque

STEP = 20  # the distance of marks is a part of the age, so that a long lag does not need a mark per inspection


class LagTracker:
    """The ends of the log at past inspections that Kafka has not reached. spark_jobs/kafka/lag.py does the same
    for a table and its topic.

    A connector that does its work acknowledges its own heartbeat, so an idle source has no lag.
    """

    def __init__(self) -> None:
        self._marks: deque[tuple[float, int]] = deque()

    def age_s(self, captured: int | None, position: int) -> float:
        """The age in seconds of the oldest change that Kafka does not have; 0 without a capture (another rule)."""
        now = time.monotonic()
        if captured is None or (self._marks and position < self._marks[-1][1]):
            self._marks.clear()  # another log
        if not self._marks or now - self._marks[-1][0] >= (now - self._marks[0][0]) / STEP:
            self._marks.append((now, position))
        while self._marks and captured is not None and self._marks[0][1] <= captured:
            self._marks.popleft()
        return now - self._marks[0][0] if self._marks else 0.0
