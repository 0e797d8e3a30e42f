"""How far each table is behind its topic."""

import logging
import threading
import time
from typing import Dict

from spark_jobs.runtime.errors import root_cause
from spark_jobs.streaming.application import Application
from spark_jobs.streaming.managed_queries import ManagedQueries

LOG = logging.getLogger("stream")
WATCH_EVERY_S = 5.0


class TopicWatch:
    """Notes the lag of each table; in a thread of its own, as Kafka may keep it waiting."""

    def __init__(self, app: Application, queries: ManagedQueries) -> None:
        self._app = app
        self._queries = queries

    def run(self, stopping: threading.Event) -> None:
        while not stopping.wait(WATCH_EVERY_S):
            self.look(time.monotonic())

    def look(self, now: float) -> None:
        """One look: Kafka is asked once for each topic."""
        ends: Dict[str, Dict[int, int]] = {}
        for name, managed in self._queries.of_tables().items():
            topic = managed.table.source.topic
            if topic not in ends:
                ends[topic] = self._ends(topic)
            self._app.progress.note(name, behind_s=managed.lag.age_s(managed.reached(), ends[topic], now))

    def _ends(self, topic: str) -> Dict[int, int]:
        try:
            return self._app.broker.ends(topic)
        except Exception as error:  # py4j, whatever it is: the watch goes on
            LOG.warning("Kafka does not say what %s holds: %s", topic, root_cause(error))
            return {}
