"""Background: work that nobody waits for takes what the commits leave."""

import threading
from contextlib import contextmanager
from typing import Iterator

from pyspark import SparkContext

POOL = "background"  # pools.xml
REST = 2.0  # what worked rests so many times as long: all falls due together
REST_MAX_S = 20.0


class Background:
    """Archives and table services: few at a time, in a pool of little weight.

    All topics, and all tables, fall due together: at once, they would hold up every commit for seconds.
    """

    def __init__(self, context: SparkContext) -> None:
        self._context = context
        self.at_once = max(1, context.defaultParallelism // 2)
        self._free = threading.Semaphore(self.at_once)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """The time of one piece of work; what this thread asks of Spark until then goes to the pool."""
        with self._free:
            self._context.setLocalProperty("spark.scheduler.pool", POOL)
            yield


def rest_s(worked_s: float, waited: bool) -> float:
    """For how long what has worked so long leaves the cores to others.

    waited: it may have waited for Kafka, or a storage that was away, which takes nothing from anybody.
    """
    return min(REST * worked_s, REST_MAX_S) if waited else REST * worked_s
