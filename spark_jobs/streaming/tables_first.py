"""After a restart, tables get the JVM to themselves for 90 s; archives and table services start later."""

import threading
import time
from typing import Callable

TABLES_FIRST_S = 90.0


class TablesFirst:
    """A new JVM is slow, and after a crash late: its first time is the tables', unless they have nothing to do."""

    def __init__(self, seconds: float = TABLES_FIRST_S) -> None:
        self._served = threading.Event()
        self._until = time.monotonic() + seconds

    def look(self, nothing_to_do: Callable[[], bool], asked: Callable[[], bool]) -> None:
        """To be called now and then. asked: whether somebody waits for what this job does besides the tables."""
        if not self._served.is_set() and (time.monotonic() > self._until or nothing_to_do() or asked()):
            self._served.set()

    def over(self) -> bool:
        return self._served.is_set()

    def wait(self) -> None:
        self._served.wait()
