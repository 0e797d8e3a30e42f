"""What the streaming job does for its tables beside commits: table services, and requests about the quarantine."""

import threading
from typing import Callable

from pyspark.sql import SparkSession

from spark_jobs.hudi import table_services
from spark_jobs.hudi.lease import Leases
from spark_jobs.runtime import storage
from spark_jobs.runtime.pipeline import Pipeline
from spark_jobs.runtime.status import Progress
from spark_jobs.scheduling.background import Background
from spark_jobs.streaming.managed_queries import ManagedQueries
from spark_jobs.streaming.quarantine_requests import FOLDER, QuarantineRequests

LOOK_EVERY_S = 1.0


class ServiceLoop:
    """One table after the other, in a thread of its own."""

    def __init__(
        self,
        spark: SparkSession,
        queries: ManagedQueries,
        leases: Leases,
        requests: QuarantineRequests,
        background: Background,
        progress: Progress,
    ) -> None:
        self._spark = spark
        self._queries = queries
        self._leases = leases
        self._requests = requests
        self._background = background
        self._progress = progress

    def run(self, stopping: threading.Event, read: Callable[[], Pipeline]) -> None:
        """read: the pipeline as it is by then."""
        while not stopping.wait(LOOK_EVERY_S):
            self._round(read())

    def asked(self, pipeline: Pipeline) -> bool:
        """Whether somebody waits for what is done here."""
        services = set(storage.names(self._spark, pipeline.requests)) - {FOLDER}
        return bool(services or self._requests.asked(pipeline))

    def _round(self, pipeline: Pipeline) -> None:
        every = pipeline.silver["service_commits"]
        writers = self._queries.writers()
        self._requests.serve(pipeline, writers)
        tables = [writer.table for writer in writers]
        for table in tables:
            table_services.sync_overdue(tables, self._progress)
            with self._background.turn():
                if self._leases.holds(table.path):
                    table_services.attend(self._spark, table, self._progress, pipeline.requests, every)
            self._requests.serve(pipeline, writers)
