"""Starts connectors again whose tasks failed: Kafka Connect leaves them as they are (correctness F41)."""

import logging
import time
from dataclasses import dataclass

from lake.connect_rest import Connect, failure, states

LOG = logging.getLogger("guardian")
FIRST_S = 10.0
GREATEST_S = 300.0


@dataclass
class Wait:
    """How long a connector is left alone after a start, and until when."""

    seconds: float = FIRST_S
    until: float = 0.0


class Restarts:
    """Each start that fails doubles the wait for the next: what asks with a wrong password must not be locked out."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._waits: dict[str, Wait] = {}

    def attend(self, connector: str) -> None:
        """Starts the connector again if a task of it failed, and the wait is over."""
        now, wait = time.monotonic(), self._waits.setdefault(connector, Wait())
        if now < wait.until:
            return
        status = self._connect.status(connector)
        if "FAILED" not in states(status):
            del self._waits[connector]
            return
        LOG.warning("%s failed: %s; it is started again, and next in %.0f s", connector, failure(status), wait.seconds)
        self._connect.tell(connector, "restart")
        wait.until, wait.seconds = now + wait.seconds, min(2 * wait.seconds, GREATEST_S)
