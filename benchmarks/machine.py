"""How fast the machine is: shared ones change by half within the hour, and a figure means little without it."""

import time
from statistics import median

STEPS = 5_000_000
RUNS = 5


def loop_s(runs: int = RUNS) -> float:
    """Seconds of a core that it takes to add up so many numbers in Python; the median of a few runs.

    Of a core's time alone: the wait for one, on a machine that is busy, is not the machine's speed.
    """
    return round(median(_once() for _ in range(runs)), 3)


def _once() -> float:
    began = time.thread_time()
    sum(number for number in range(STEPS))
    return time.thread_time() - began
