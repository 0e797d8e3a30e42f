"""The lag of a table behind its topic, in offsets and in seconds."""

from collections import deque
from typing import Deque, Dict, Tuple

Marks = Deque[Tuple[float, Dict[int, int]]]
STEP = 20  # the distance of marks is a part of the age, so that a long lag does not need a mark per look


class LagTracker:
    """The ends of the topic at past looks that the table has not reached."""

    def __init__(self) -> None:
        self._marks: Marks = deque()

    def age_s(self, reached: Dict[str, int], held: Dict[int, int], now: float) -> float:
        """The seconds since the topic first held a message that the table does not have; at most since the first call.

        reached: next offset of the table by partition (text); held: that of its topic (int), {} if unknown.
        """
        if held and (not self._marks or now - self._marks[-1][0] >= (now - self._marks[0][0]) / STEP):
            self._marks.append((now, held))
        while self._marks and not missing_offsets("the table", reached, self._marks[0][1]):
            self._marks.popleft()
        return now - self._marks[0][0] if self._marks else 0.0


def missing_offsets(what: str, reached: Dict[str, int], end: Dict[int, int]) -> str:
    """The partitions that are not covered, or ''. reached: next offset by partition (text); end: by partition (int)."""
    pairs = [(partition, reached.get(str(partition), 0), offset) for partition, offset in sorted(end.items())]
    behind = ["partition {}: {} of {}".format(*one) for one in pairs if one[1] < one[2]]
    return "{} has not reached {}".format(what, ", ".join(behind)) if behind else ""
