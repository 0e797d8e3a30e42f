"""The streaming job: keeps one query per Hudi table and one per archived topic running, as the pipeline file says."""

import logging
import threading
import time
from functools import partial
from typing import Any, Callable, List

from pyspark.sql import SparkSession

from spark_jobs.hudi.lease import Held, Leases
from spark_jobs.kafka.admin import Broker
from spark_jobs.quarantine.table import Quarantines
from spark_jobs.runtime import storage
from spark_jobs.runtime.errors import root_cause
from spark_jobs.runtime.jvm import ConfigurationOrigins
from spark_jobs.runtime.pipeline import Pipeline, read_pipeline
from spark_jobs.runtime.status import Progress
from spark_jobs.scheduling.background import Background
from spark_jobs.scheduling.commit_slots import CommitSlots
from spark_jobs.streaming.application import Application
from spark_jobs.streaming.managed_queries import ManagedQueries
from spark_jobs.streaming.quarantine_requests import QuarantineRequests
from spark_jobs.streaming.query_starts import QueryStarts
from spark_jobs.streaming.service_loop import ServiceLoop
from spark_jobs.streaming.tables_first import TablesFirst
from spark_jobs.streaming.topic_watch import TopicWatch

LOG = logging.getLogger("stream")
LOOK_EVERY_S = 1.0


class StreamingJob:
    """All that one application does. failed: why it has to be started again is in the log."""

    def __init__(self, spark: SparkSession, config: str, layers: List[str]) -> None:
        self._spark = spark
        self._config = config
        self._stopping = threading.Event()
        self._tables_first = TablesFirst()
        self.failed = False
        context = spark.sparkContext
        slots = CommitSlots(context.defaultParallelism)
        self._app = app = Application(
            spark,
            Broker(spark, self._pipeline().kafka),
            Leases(spark, "stream {}".format(context.applicationId), self._lose),
            Quarantines(spark),
            Progress(),
            slots,
            archives=Background(context, slots.busy),
            services=Background(context, slots.busy),
        )
        self._starts = QueryStarts(app, layers)
        self._queries = ManagedQueries(app.progress, app.archives.at_once, app.leases.release)
        self._service_loop = ServiceLoop(app, self._queries, QuarantineRequests(app.quarantines))
        self._topic_watch = TopicWatch(app, self._queries)

    def admit(self) -> None:
        """Takes all tables before any is written; Held when another job writes one of them."""
        try:
            self._app.leases.await_all([target.path for _, target in self._starts.targets(self._pipeline())])
        except Held:
            self._app.leases.release_all()
            raise

    def run(self) -> None:
        """Runs until stop(); looks at the pipeline file and at every query once a second."""
        self.attend("serve", self._serve)
        self.attend("watch_topics", partial(self._topic_watch.run, self._stopping))
        origins = ConfigurationOrigins(self._spark)
        while not self._stopping.is_set():
            origins.forget()
            self._look(self._pipeline())
            self._stopping.wait(LOOK_EVERY_S)
        self._queries.end_all()
        self._app.leases.release_all()

    def stop(self, *_: Any) -> None:
        """Ends run(): each query stops between two commits."""
        self._stopping.set()

    def attend(self, name: str, work: Callable[[], None]) -> threading.Thread:
        """Runs what is to run as long as the job, in a thread: nobody would notice one that ended."""

        def run() -> None:
            try:
                work()
            except Exception as error:  # py4j, whatever it is
                if not self._stopping.is_set():
                    self._lose("{}: {}".format(name, root_cause(error)))

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        return thread

    def _pipeline(self) -> Pipeline:
        return read_pipeline(self._spark, self._config)

    def _look(self, pipeline: Pipeline) -> None:
        self._queries.reconcile(self._starts.wanted(pipeline, self._tables_first.over()))
        self._tables_first.look(self._queries.nothing_to_do, partial(self._service_loop.is_asked, pipeline))
        for writer in self._queries.writers():
            self._app.progress.update(writer.table.name, quarantined=writer.waiting)
        storage.write_text(self._spark, pipeline.status, self._app.progress.to_json(time.time()))

    def _serve(self) -> None:
        self._tables_first.wait()
        self._service_loop.run(self._stopping, self._pipeline)

    def _lose(self, reason: str) -> None:
        """Another job may write a table by now, or a thread ended: all stops, and the supervisor restarts this job."""
        LOG.error("%s: this job ends", reason)
        self.failed = True
        self._stopping.set()
