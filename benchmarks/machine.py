"""How fast the machine is: shared ones change by half within the hour, and a figure means little without it."""

import time
from dataclasses import dataclass, field
from statistics import median

STEPS = 5_000_000
RUNS = 5
USUAL_LOOP_S = 0.1  # of the hours in which the bars of docs/measured.md were met


def loop_s(runs: int = RUNS) -> float:
    """Seconds of a core that it takes to add up so many numbers in Python; the median of a few runs.

    Of a core's time alone: the wait for one, on a machine that is busy, is not the machine's speed.
    """
    return round(median(_once() for _ in range(runs)), 3)


def _once() -> float:
    began = time.thread_time()
    sum(number for number in range(STEPS))
    return time.thread_time() - began


@dataclass
class Machine:
    """Looked at now and then, in the middle of other work."""

    loops: list[float] = field(default_factory=list)

    def look(self) -> None:
        self.loops.append(loop_s(runs=1))

    @property
    def slower(self) -> float:
        """How many times slower than usual it was, by the median of all looks; 1 if it was as fast, or faster."""
        return max(1.0, median(self.loops) / USUAL_LOOP_S)

    def limit(self, within_s: float) -> float:
        """Seconds that something may take here for which a usual machine has within_s."""
        return within_s * self.slower

    def late(self, took_s: float, within_s: float) -> bool:
        """Whether that is longer than it may take here; where it would be so anyway, the machine is looked at."""
        if took_s < within_s:
            return False
        self.look()
        return took_s >= self.limit(within_s)
