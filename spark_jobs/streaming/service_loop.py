"""What the streaming job does for its tables beside commits: table services, and requests about the quarantine."""

import threading
from typing import Callable

from spark_jobs.hudi import table_services
from spark_jobs.runtime import storage
from spark_jobs.runtime.pipeline import Pipeline
from spark_jobs.streaming.application import Application
from spark_jobs.streaming.managed_queries import ManagedQueries
from spark_jobs.streaming.quarantine_requests import FOLDER, QuarantineRequests

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

    def asked(self, pipeline: Pipeline) -> bool:
        """True if there is a request to be served."""
        services = set(storage.names(self._app.spark, pipeline.requests)) - {FOLDER}
        return bool(services or self._requests.asked(pipeline))

    def _round(self, pipeline: Pipeline) -> None:
        every = pipeline.silver["service_commits"]
        writers = self._queries.writers()
        self._requests.serve(pipeline, writers)
        tables = [writer.table for writer in writers]
        for table in tables:
            table_services.sync_overdue(tables, self._app.progress)
            with self._app.services.turn():
                if self._app.leases.holds(table.path):
                    table_services.attend(self._app.spark, table, self._app.progress, pipeline.requests, every)
            self._requests.serve(pipeline, writers)
