"""Background work, which runs when commits leave time for it."""

import threading
import time
from contextlib import contextmanager
from typing import Any, Callable, Iterator

from pyspark import SparkContext

POOL = "background"  # pools.xml
REST = 2.0
REST_MAX_S = 30.0  # longer work may have waited for Kafka or the storage, which costs no processor time


class Background:
    """Archives, or table services: few at a time, in a pool of little weight, with pauses.

    All topics, and all tables, become due at the same time. If all ran at once, they would delay every commit for
    seconds; if they ran one right after the other, they would use a core for as long as there is a backlog. So, if
    tables are busy, each run is followed by a pause that is twice as long.
    """

    def __init__(
        self,
        context: SparkContext,
        busy: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
        timer: Callable[..., Any] = threading.Timer,
    ) -> None:
        self._context = context
        self._busy = busy
        self._clock = clock
        self._timer = timer
        self.at_once = max(1, context.defaultParallelism // 2)
        self._free = threading.Semaphore(self.at_once)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """A context for one piece of work. Spark jobs that this thread starts in it run in the pool."""
        self._free.acquire()
        began = self._clock()
        try:
            self._context.setLocalProperty("spark.scheduler.pool", POOL)
            yield
        finally:
            worked_s = self._clock() - began
            self._free_after(min(REST * worked_s, REST_MAX_S) if self._busy() else 0.0)

    def _free_after(self, seconds: float) -> None:
        """Waits in a separate thread, so that the caller need not wait for the pause."""
        rest = self._timer(seconds, self._free.release)
        rest.daemon = True
        rest.start()
