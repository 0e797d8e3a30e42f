"""How fast the machine is: shared ones change by half within the hour, and a figure means little without it."""

import time
from statistics import median

STEPS = 5_000_000
RUNS = 5


def loop_s() -> float:
    """Seconds that one core takes to add up so many numbers in Python; the median of a few runs."""
    return round(median(_once() for _ in range(RUNS)), 3)


def _once() -> float:
    began = time.perf_counter()
    sum(number for number in range(STEPS))
    return time.perf_counter() - began
