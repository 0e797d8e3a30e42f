"""What the streaming job does for its tables beside commits: table services, and requests about the quarantine."""

import logging
import threading
from typing import Callable

from spark_jobs.hudi import table_services
from spark_jobs.hudi.table import HudiTable
from spark_jobs.hudi.table_services import COMPACT, DELETE_ORPHANS
from spark_jobs.runtime.errors import root_cause
from spark_jobs.runtime.pipeline import Pipeline
from spark_jobs.streaming.application import Application
from spark_jobs.streaming.control import DONE, Control
from spark_jobs.streaming.managed_queries import ManagedQueries
from spark_jobs.streaming.quarantine_requests import QuarantineRequests

LOG = logging.getLogger("services")
LOOK_EVERY_S = 1.0


class ServiceLoop:
    """One table after the other, in a thread of its own."""

    def __init__(self, app: Application, queries: ManagedQueries, requests: QuarantineRequests) -> None:
        self._app = app
        self._queries = queries
        self._requests = requests

    def run(self, stopping: threading.Event, read: Callable[[], Pipeline]) -> None:
        """read: the pipeline as it is by then."""
        while not stopping.wait(LOOK_EVERY_S):
            self._round(read())

    def is_asked(self, pipeline: Pipeline) -> bool:
        """True if an operator waits for what is done here."""
        return Control(self._app.spark, pipeline.requests).is_asked()

    def _round(self, pipeline: Pipeline) -> None:
        control, writers = Control(self._app.spark, pipeline.requests), self._queries.writers()
        self._requests.serve(control, pipeline, writers)
        tables = [writer.table for writer in writers]
        for table in tables:
            table_services.sync_overdue(tables, self._app.progress)
            with self._app.services.turn():
                if self._app.leases.holds(table.path):
                    self._attend(table, control, pipeline.silver["service_commits"])
            self._requests.serve(control, pipeline, writers)

    def _attend(self, table: HudiTable, control: Control, every: int) -> None:
        try:
            found = control.pending(COMPACT, DELETE_ORPHANS)
            requests = [one for one in found if one.arguments.get("table") == table.name]
            compact = any(one.verb == COMPACT for one in requests)
            bounds = [int(one.arguments["bound"]) for one in requests if one.verb == DELETE_ORPHANS]
            done = table_services.attend(self._app.spark, table, self._app.progress, every, compact, bounds)
            for one in requests:
                if one.verb in done:
                    control.answer(one, DONE, {})
        except Exception as error:  # py4j: the storage is away, and the requests stay
            LOG.warning("%s: requests are not served: %s", table.name, root_cause(error))
