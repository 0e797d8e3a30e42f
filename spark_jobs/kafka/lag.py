"""The lag of a table behind its topic, in offsets and in seconds."""

from collections import deque
from typing import Deque, Dict, Tuple

Marks = Deque[Tuple[float, Dict[int, int]]]
STEP = 20  # marks are a part of the age apart: a weekend behind is not a mark for each look


class LagTracker:
    """Remembers what the topic held at each look, until the table has reached it."""

    def __init__(self) -> None:
        self._marks: Marks = deque()

    def age_s(self, reached: Dict[str, int], held: Dict[int, int], now: float) -> float:
        """How long ago the topic held what the table has not, s; at most since the first look.

        reached: next offset by partition (text) of the table; held: likewise (int) of its topic, {} if nobody can tell.
        """
        if held and (not self._marks or now - self._marks[-1][0] >= (now - self._marks[0][0]) / STEP):
            self._marks.append((now, held))
        while self._marks and not missing_offsets("the table", reached, self._marks[0][1]):
            self._marks.popleft()
        return now - self._marks[0][0] if self._marks else 0.0


def missing_offsets(what: str, reached: Dict[str, int], end: Dict[int, int]) -> str:
    """Which partitions are not covered, or ''. reached: next offset by partition (text); end: likewise (int)."""
    behind = [
        "partition {}: {} of {}".format(partition, reached.get(str(partition), 0), offset)
        for partition, offset in sorted(end.items())
        if reached.get(str(partition), 0) < offset
    ]
    return "{} lacks {}".format(what, ", ".join(behind)) if behind else ""
