"""The streaming job: keeps a feed per Hudi table and one per archived topic running, as the pipeline file says."""

import logging
import threading
import time
from functools import partial
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

from pyspark.sql import SparkSession

from spark_jobs.archive.writer import PREFIX
from spark_jobs.hudi.lease import Leases
from spark_jobs.hudi.table import target_name
from spark_jobs.kafka.admin import Broker
from spark_jobs.quarantine.table import Quarantines
from spark_jobs.runtime import storage
from spark_jobs.runtime.errors import root_cause
from spark_jobs.runtime.jvm import ConfigurationOrigins
from spark_jobs.runtime.pipeline import Pipeline, Table, Target, read_pipeline
from spark_jobs.runtime.status import Progress
from spark_jobs.scheduling.background import Background
from spark_jobs.scheduling.commit_slots import CommitSlots
from spark_jobs.streaming import archive_feed, service_loop, table_feed
from spark_jobs.streaming.application import Application
from spark_jobs.streaming.control import Control
from spark_jobs.streaming.fed_query import NoTopic
from spark_jobs.streaming.feed import Feed
from spark_jobs.streaming.loop import Loop
from spark_jobs.streaming.managed_queries import ManagedQueries, Start

LOG = logging.getLogger("stream")
LOOK_EVERY_S = 1.0
LAGS_EVERY_S = 5.0
TABLES_FIRST_S = 90.0


class TablesFirst:
    """After a restart, the tables have the JVM to themselves for a while; archives and table services start later.

    A new JVM is slow, and after a crash the tables are late. If they have nothing to do, the others need not wait.
    """

    def __init__(self, seconds: float = TABLES_FIRST_S) -> None:
        self.over = False
        self._until = time.monotonic() + seconds

    def look(self, nothing_to_do: Callable[[], bool], is_requested: Callable[[], bool]) -> None:
        """Call it regularly. is_requested: True if an operator waits for a table service or an archive."""
        self.over = self.over or time.monotonic() > self._until or nothing_to_do() or is_requested()


class StreamingJob:
    """The whole application. failed: True if it has to be started again; the log says why."""

    def __init__(self, spark: SparkSession, config: str, layers: List[str]) -> None:
        self._spark = spark
        self._config = config
        self._layers = layers
        self._stopping = threading.Event()
        self._tables_first = TablesFirst()
        self.failed = False
        context = spark.sparkContext
        slots = CommitSlots(context.defaultParallelism)
        kafka = self._pipeline().kafka
        broker = Broker(spark, kafka)
        loop = Loop(Feed(spark, kafka), broker)

        def busy() -> bool:
            return slots.busy() or loop.is_any_behind()

        self._app = Application(
            spark,
            broker,
            Leases(spark, "stream {}".format(context.applicationId), self._lose),
            Quarantines(spark),
            Progress(spark.version),
            slots,
            loop,
            archives=Background(context, busy),
            services=Background(context, busy),
        )
        self._queries = ManagedQueries(self._app)

    def admit(self) -> None:
        """Takes all tables before any is written; Held when another job writes one of them."""
        self._app.leases.await_all([target.path for _, target in self._targets(self._pipeline())])

    def run(self) -> None:
        """Runs until stop(); looks at the pipeline file and at every query once a second."""
        self.repeat("loop", self._app.loop.round, 0)
        self.repeat("table services", self._serve, LOOK_EVERY_S)
        # In a separate thread: Kafka may take long to answer.
        self.repeat("lags", lambda: note_lags(self._app, self._queries, time.monotonic()), LAGS_EVERY_S)
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

    def repeat(self, name: str, work: Callable[[], None], every_s: float) -> threading.Thread:
        """Repeats the work in a thread until the job stops. If the work fails, the job ends, so that it is noticed."""

        def run() -> None:
            try:
                while not self._stopping.wait(every_s):
                    work()
            except Exception as error:  # py4j, whatever it is
                if not self._stopping.is_set():
                    self._lose("{}: {}".format(name, root_cause(error)))

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        return thread

    def _pipeline(self) -> Pipeline:
        return read_pipeline(self._spark, self._config)

    def _targets(self, pipeline: Pipeline) -> List[Tuple[Table, Target]]:
        """The Hudi tables that are to be written."""
        tables = pipeline.tables if "silver" in self._layers else ()
        return [(table, target) for table in tables for target in table.targets]

    def _wanted(self, pipeline: Pipeline) -> Dict[str, Tuple[Any, Start]]:
        """Spec and start of each query by name: one per Hudi table, and one per archived topic."""
        found: Dict[str, Tuple[Any, Start]] = {}
        for source, target in self._targets(pipeline):
            start = partial(table_feed.start, self._app, pipeline, source, target)
            found[target_name(source, target)] = (source, target), start
        for table in pipeline.tables if self._tables_first.over and "bronze" in self._layers else ():
            spec = table.topic, pipeline.bronze["max_records"], table.bronze, table.avsc
            found[PREFIX + table.topic] = spec, partial(archive_feed.start, self._app, pipeline, table)
        return found

    def _look(self, pipeline: Pipeline) -> None:
        self._queries.reconcile(self._wanted(pipeline))
        self._tables_first.look(self._queries.nothing_to_do, Control(self._spark, pipeline.requests).has_requests)
        for _, writer in self._queries.of_tables():
            self._app.progress.update(writer.table.name, quarantined=writer.waiting)
        storage.write_text(self._spark, pipeline.status, self._app.progress.to_json(time.time()))

    def _serve(self) -> None:
        if self._tables_first.over:
            service_loop.serve(self._app, self._pipeline(), self._queries)

    def _lose(self, reason: str) -> None:
        """Stops everything after a lost claim or a dead thread; the supervisor restarts this job."""
        LOG.error("%s: this job ends", reason)
        self.failed = True
        self._stopping.set()


def note_lags(app: Application, queries: ManagedQueries, now: float) -> None:
    """Notes how far each table is behind its topic; one whose topic is gone stops. Kafka is asked for all at once."""
    tables = [(managed, managed.query, writer.table.source.topic) for managed, writer in queries.of_tables()]
    ends = _ends(app.broker, {topic for _, _, topic in tables})
    for managed, query, topic in tables:
        known = ends.get(topic) or {}
        managed.note_ends(known)
        app.progress.note(managed.name, behind_s=managed.lag.age_s(managed.reached(), known, now))
        if query is not None and ends.get(topic, {}) is None:
            query.fail(NoTopic(topic))


def _ends(broker: Broker, topics: Set[str]) -> Dict[str, Optional[Dict[int, int]]]:
    """The next offsets by topic: None for a topic that does not exist; without those that Kafka says nothing of."""
    try:
        found = broker.ends_of(topics)
        return {topic: found.get(topic) for topic in topics}
    except Exception as error:  # py4j: one of them is refused, or Kafka does not answer
        LOG.warning("Kafka does not say what %s holds: %s", ", ".join(sorted(topics)), root_cause(error))
        each = [_ends(broker, {topic}) for topic in topics] if len(topics) > 1 else []
        return {topic: ends for one in each for topic, ends in one.items()}
