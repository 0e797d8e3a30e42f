"""Restarts connectors whose tasks failed or hang: Kafka Connect does not (F41)."""

import logging
import time
from dataclasses import dataclass

from lake.clients.connect import Connect, failure, runs, states

LOG = logging.getLogger("guardian")
FIRST_S = 10.0
GREATEST_S = 300.0
IDLE_S = 120.0  # a task that follows one that hung waits 110 s for the names of its metrics (Debezium, JmxUtils)


@dataclass
class Wait:
    """How long a connector is left alone after a start, until when, and since when nobody reads for it."""

    seconds: float = FIRST_S
    until: float = 0.0
    idle_since: float | None = None


class Restarts:
    """Each start that fails doubles the wait for the next one: a wrong password tried too often locks the user out."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._waits: dict[str, Wait] = {}

    def attend(self, connector: str, is_read: bool) -> None:
        """Starts the connector again if a task of it failed or hangs, and the wait is over.

        is_read: whether anybody reads the source's log for it just now.
        """
        now, wait = time.monotonic(), self._waits.setdefault(connector, Wait())
        if now < wait.until:
            return
        if trouble := self._trouble(connector, is_read, wait, now):
            LOG.warning("%s %s; it is started again, and next in %.0f s", connector, trouble, wait.seconds)
            self._connect.tell(connector, "restart")
            self._waits[connector] = Wait(min(2 * wait.seconds, GREATEST_S), now + wait.seconds)
        elif wait.idle_since is None:  # else it has yet to show that it reads
            del self._waits[connector]

    def _trouble(self, connector: str, is_read: bool, wait: Wait, now: float) -> str:
        """Why the connector must be restarted; '' if it works."""
        status = self._connect.status(connector)
        if "FAILED" in states(status):
            return f"failed: {failure(status)}"
        if is_read or not runs(status) or self._connect.snapshotting(connector):
            wait.idle_since = None
            return ""
        wait.idle_since = now if wait.idle_since is None else wait.idle_since
        idle_s = now - wait.idle_since
        return f"says RUNNING, and nobody has read the source's log for {idle_s:.0f} s" if idle_s >= IDLE_S else ""
