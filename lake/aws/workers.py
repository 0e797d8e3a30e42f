"""What Spark applications take of EMR Serverless: workers, in the sizes that AWS offers."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

# vCPUs of a worker: the least and the most GB of memory with them, and in what steps. Source: the user guide of EMR
# Serverless, "Worker configurations".
SIZES = {1: (2, 8, 1), 2: (4, 16, 1), 4: (8, 30, 1), 8: (16, 60, 4), 16: (32, 120, 8)}
MB_OF = {"m": 1, "g": 1024}
OVERHEAD, LEAST_OVERHEAD_MB = 0.1, 384  # of Spark, beside the heap


@dataclass(frozen=True)
class Worker:
    """One worker. EMR Serverless charges for both numbers."""

    vcpus: int
    memory_gb: int


def worker(memory: str) -> Worker:
    """The worker of a heap such as 4g: as many vCPUs as AWS allows with that memory. ValueError if none is as large."""
    heap_mb = int(memory[:-1]) * MB_OF[memory[-1]]
    needed = math.ceil((heap_mb + max(LEAST_OVERHEAD_MB, OVERHEAD * heap_mb)) / 1024)
    for vcpus, (least, most, step) in sorted(SIZES.items(), reverse=True):
        rounded = max(least, math.ceil(needed / step) * step)
        if least <= needed <= most and rounded <= most:
            return Worker(vcpus, rounded)
    if needed < SIZES[1][0]:
        return Worker(1, SIZES[1][0])
    raise ValueError(f"{memory} is more than a worker of EMR Serverless has | the most is 108g: write less")


def taken(workers: Iterable[Worker]) -> Worker:
    """The sum of several workers."""
    several = list(workers)
    return Worker(sum(one.vcpus for one in several), sum(one.memory_gb for one in several))
