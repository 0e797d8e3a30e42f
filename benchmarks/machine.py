"""The speed of the machine. A shared machine changes by half within an hour; without its speed a figure says little."""

import time
from dataclasses import dataclass, field
from statistics import median

STEPS = 5_000_000
RUNS = 5
USUAL_LOOP_S = 0.1  # in the hours in which the bars of docs/measured.md were met


def loop_s(runs: int = RUNS) -> float:
    """Seconds of a core to add up a fixed count of numbers in Python; the median of a few runs.

    Only the time of the core counts: on a busy machine, the wait for a core is not part of the machine's speed.
    """
    return round(median(_once() for _ in range(runs)), 3)


def _once() -> float:
    began = time.thread_time()
    sum(number for number in range(STEPS))
    return time.thread_time() - began


@dataclass
class Machine:
    """The speed of the machine, sampled at times during other work."""

    loops: list[float] = field(default_factory=list)

    def look(self) -> None:
        self.loops.append(loop_s(runs=1))

    @property
    def slower(self) -> float:
        """How many times slower than usual the machine was, by the median of all samples; at least 1."""
        return max(1.0, median(self.loops) / USUAL_LOOP_S)

    def limit(self, within_s: float) -> float:
        """The limit in seconds on this machine for work that has within_s seconds on a usual machine."""
        return within_s * self.slower

    def late(self, took_s: float, within_s: float) -> bool:
        """True if this exceeds the limit here. The machine is sampled only if it exceeds the usual limit."""
        if took_s < within_s:
            return False
        self.look()
        return took_s >= self.limit(within_s)
