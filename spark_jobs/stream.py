"""The streaming job: keeps one query per Hudi table and one per archived topic running, as the pipeline file says.

spark-submit spark_jobs/stream.py --config <pipeline.json> [--layers silver,bronze]
"""

import argparse
import logging
import signal
import sys
import threading
import time
from functools import partial
from typing import Any, Callable, Dict, List, Optional, Tuple

from pyspark.sql import SparkSession

from spark_jobs.archive import writer
from spark_jobs.hudi import table_services as services
from spark_jobs.hudi.lease import Held, Leases
from spark_jobs.hudi.table import SilverTable
from spark_jobs.kafka.admin import Broker
from spark_jobs.kafka.lag import Backlog
from spark_jobs.kafka.schema_registry import Registry
from spark_jobs.quarantine.table import Quarantines
from spark_jobs.runtime import storage
from spark_jobs.runtime.errors import cause
from spark_jobs.runtime.jvm import Origins, keep_names
from spark_jobs.runtime.pipeline import Pipeline, read_pipeline
from spark_jobs.runtime.status import Progress
from spark_jobs.scheduling.background import Background
from spark_jobs.scheduling.commit_slots import Turns
from spark_jobs.streaming.quarantine_requests import FOLDER, Desk
from spark_jobs.streaming.table_query import SilverQuery
from spark_jobs.streaming.table_writer import Guard

LOG = logging.getLogger("stream")
LOOK_EVERY_S = 1.0
WATCH_EVERY_S = 5.0
TABLES_FIRST_S = 90.0
RETRY_S = (1, 2, 5, 10, 30)  # a query that fails is started again after these, the last one for ever


class Flow:
    """One query that should run: how to start it, and what became of it."""

    def __init__(self, spec: Any, begin: Callable[[], Any]) -> None:
        self.spec = spec
        self.guard: Optional[Guard] = None
        self.backlog = Backlog()
        self.begin = begin
        self.query: Any = None
        self.failures = 0
        self.retry_at = 0.0
        self._began_from: Dict[str, Any] = {}

    def retire(self) -> None:
        """Nothing more is written through what was begun before."""
        if self.guard is not None:
            self.guard.retire()

    def began(self) -> None:
        """Remembers where this start begins."""
        self._began_from = self._position()

    def failed(self, reason: str, now: float) -> None:
        """Puts the next start off: a table that can't go on must not load the others."""
        if self._position() != self._began_from:
            self.failures = 0
        wait = RETRY_S[min(self.failures, len(RETRY_S) - 1)]
        self.failures, self.retry_at, self.query = self.failures + 1, now + wait, None
        LOG.error("%s; next try in %d s", reason, wait)

    def idle(self) -> bool:
        """Whether its last look found nothing to do."""
        return self._last.get("numInputRows") == 0

    def stuck(self) -> bool:
        """Whether it failed, and waits for its next try."""
        return self.query is None and self.failures > 0

    def begins(self) -> bool:
        """Whether its first batch goes on."""
        return self.query is not None and not self._last

    @property
    def _last(self) -> Dict[str, Any]:
        """What Spark tells of its last batch, or look; {} before the first is over."""
        return (self.query.lastProgress if self.query is not None else None) or {}

    @property
    def table(self) -> Optional[SilverTable]:
        """What the query writes; None for an archive, and before the first start."""
        return self.guard.silver if self.guard is not None else None

    def reached(self) -> Dict[str, int]:
        """By partition, the offset behind what is committed, or was set aside or left out with nothing to commit."""
        if self.table is None:
            return {}
        committed, sources = self.table.offsets, self._last.get("sources") or [{}]
        read = (sources[0].get("endOffset") or {}).get(self.table.table.topic, {})
        return {part: max(committed.get(part, 0), read.get(part, 0)) for part in {*committed, *read}}

    def _position(self) -> Dict[str, Any]:
        return self.table.position if self.table is not None else {}


class Stream:
    """All flows of one application. Each fails, waits and starts alone (one bad table never stops the others)."""

    def __init__(self, spark: SparkSession, config: str, layers: List[str]) -> None:
        self._spark = spark
        self._config = config
        self._layers = layers
        self._flows: Dict[str, Flow] = {}
        self._progress = Progress()
        self._broker = Broker(spark, read_pipeline(spark, config).kafka)
        self._turns = Turns(spark.sparkContext.defaultParallelism)
        # Not one for both: a backlog of archives would hold up the services, which keep the commits short.
        self._archives = Background(spark.sparkContext, self._turns.busy)
        self._services = Background(spark.sparkContext, self._turns.busy)
        self._quarantines = Quarantines(spark)
        self._desk = Desk(spark, self._quarantines, self._progress)
        self._stopping = threading.Event()
        # A new JVM is slow, and after a crash late: its first time is the tables', unless they have nothing to do.
        self._tables_served = threading.Event()
        self._tables_first_until = time.monotonic() + TABLES_FIRST_S
        self._leases = Leases(spark, "stream {}".format(spark.sparkContext.applicationId), self._lose)
        self.failed = False

    def admit(self) -> None:
        """Takes all tables before any is written; Held when another job writes one of them."""
        try:
            self._leases.await_all(
                [target.path for _, target in self._targets(read_pipeline(self._spark, self._config))]
            )
        except Held:
            self._leases.release_all()
            raise

    def _targets(self, pipeline: Pipeline) -> List[Tuple[Any, Any]]:
        silver_too = "silver" in self._layers
        return [(table, target) for table in pipeline.tables for target in table.targets if silver_too]

    def _lose(self, reason: str) -> None:
        """Another job may write a table by now, or a thread ended: all stops, and who keeps this job starts it anew."""
        LOG.error("%s: this job ends", reason)
        self.failed = True
        self._stopping.set()

    def run(self) -> None:
        """Runs until stop(); looks at the pipeline file and at every query once a second."""
        for work in (self._serve, self._watch_topics):
            threading.Thread(target=self._attended, args=(work,), daemon=True).start()
        origins = Origins(self._spark)
        while not self._stopping.is_set():
            origins.forget()
            self._look(read_pipeline(self._spark, self._config))
            self._stopping.wait(LOOK_EVERY_S)
        for flow in self._flows.values():
            self._halt(flow)
        self._leases.release_all()

    def _look(self, pipeline: Pipeline) -> None:
        self._reconcile(pipeline)
        self._see_tables_served(pipeline)
        for name, flow in self._flows.items():
            if flow.guard is not None:
                self._progress.update(name, quarantined=flow.guard.waiting)
        storage.write_text(self._spark, pipeline.status, self._progress.to_json(time.time()))

    def _attended(self, work: Callable[[], None]) -> None:
        """Runs what is to run as long as the job: nobody would notice a thread that ended."""
        try:
            work()
        except Exception as error:  # py4j, whatever it is
            if not self._stopping.is_set():
                self._lose("{}: {}".format(work.__name__.strip("_"), cause(error)))

    def stop(self, *_: Any) -> None:
        """Ends run(): each query stops between two commits."""
        self._stopping.set()

    def _reconcile(self, pipeline: Pipeline) -> None:
        wanted = dict(self._wanted(pipeline))
        for name in [name for name in self._flows if name not in wanted]:
            self._halt(self._flows.pop(name))
            self._progress.forget(name)
        due = [name for name, (spec, begin) in wanted.items() if self._is_due(name, spec, begin)]
        for name in self._few_archives(due):
            self._begin(name, self._flows[name])

    def _see_tables_served(self, pipeline: Pipeline) -> None:
        if self._tables_served.is_set():
            return
        late = time.monotonic() > self._tables_first_until
        if late or self._nothing_to_do() or self._asked(pipeline):
            self._tables_served.set()

    def _nothing_to_do(self) -> bool:
        """Whether no table has anything to do, but for those that can't: they hold nothing up.

        When none can, because a server is away, all will have much to do as soon as it is back.
        """
        able = [flow for flow in self._flows.values() if not flow.stuck()]
        return all(flow.idle() for flow in able) and bool(able or not self._flows)

    def _asked(self, pipeline: Pipeline) -> bool:
        """Whether somebody waits for what this job does besides the tables."""
        services = set(storage.names(self._spark, pipeline.requests)) - {FOLDER}
        return bool(services or self._desk.asked(pipeline))

    def _wanted(self, pipeline: Pipeline) -> Any:
        registry = Registry(pipeline.registry)
        for table, target in self._targets(pipeline):
            yield self._silver(pipeline, table, target, registry)
        bronze_too = "bronze" in self._layers and self._tables_served.is_set()
        for table in pipeline.tables if bronze_too else ():
            yield self._bronze(pipeline, table, registry)

    def _silver(self, pipeline: Pipeline, table: Any, target: Any, registry: Registry) -> Tuple[str, Any]:
        name = "{}.{}".format(target.options["hoodie.datasource.hive_sync.database"], table.table)

        def begin() -> Any:
            self._leases.take(target.path)
            self._flows[name].retire()
            written = SilverTable(self._spark, table, target, registry)
            may_write = partial(self._leases.check, target.path)
            guard = Guard(written, registry, self._quarantines.of(pipeline, table.database), may_write)
            self._flows[name].guard = guard
            self._progress.update(name, **written.position)  # a table that stays idle has a position too
            return SilverQuery(self._spark, pipeline, self._broker, guard, self._progress, self._turns).start()

        return name, ((table, target), begin)

    def _bronze(self, pipeline: Pipeline, table: Any, registry: Registry) -> Tuple[str, Any]:
        size = pipeline.bronze["max_records"]

        def begin() -> Any:
            ask = partial(self._broker.topic, table.topic)
            archive = writer.BronzeTopic(self._spark, table, pipeline.bronze["path"], registry, size, ask)
            return writer.start(self._spark, pipeline, archive, self._progress, self._archives)

        return writer.PREFIX + table.topic, ((table.topic, size), begin)

    def _is_due(self, name: str, spec: Any, begin: Callable[[], Any]) -> bool:
        """Whether a flow is to begin, because it is new, changed, or has waited long enough for another try."""
        flow = self._flows.get(name)
        if flow is None or flow.spec != spec:
            if flow is not None:
                self._halt(flow)
            flow = self._flows[name] = Flow(spec, begin)
        now = time.time()
        if flow.query is not None and not flow.query.isActive:
            self._note_failure(name, flow, flow.query.exception(), now)
        return flow.query is None and now >= flow.retry_at

    def _few_archives(self, due: List[str]) -> List[str]:
        """Without the archives that wait for others: the first batch of each takes seconds from the commits."""
        begin = [flow for name, flow in self._flows.items() if name.startswith(writer.PREFIX) and flow.begins()]
        room = max(0, self._archives.at_once - len(begin))
        waiting = [name for name in due if name.startswith(writer.PREFIX)][room:]
        return [name for name in due if name not in waiting]

    def _begin(self, name: str, flow: Flow) -> None:
        try:
            flow.query = flow.begin()
            flow.began()
            self._progress.update(name, state="running" if not flow.failures else "retrying")
        except Exception as error:  # py4j and urllib: whatever it is, this table alone waits
            self._note_failure(name, flow, error, time.time())

    def _note_failure(self, name: str, flow: Flow, error: Any, now: float) -> None:
        reason = cause(error)
        self._progress.update(name, state="stopped", reason=reason)
        flow.failed("{} stopped: {}".format(name, reason), now)

    def _halt(self, flow: Flow) -> None:
        if flow.query is not None:
            flow.query.stop()
        flow.retire()
        if flow.table is not None:
            self._leases.release(flow.table.target.path)

    def _serve(self) -> None:
        """Table services, one table after the other, in a thread of their own."""
        self._tables_served.wait()
        while not self._stopping.wait(LOOK_EVERY_S):
            pipeline = read_pipeline(self._spark, self._config)
            every = pipeline.silver["service_commits"]
            guards = [flow.guard for flow in list(self._flows.values()) if flow.guard is not None]
            self._desk.serve(pipeline, guards)
            tables = [guard.silver for guard in guards]
            for table in tables:
                services.sync_overdue(tables, self._progress)
                with self._services.turn():
                    if self._leases.holds(table.target.path):
                        services.attend(self._spark, table, self._progress, pipeline.requests, every)
                self._desk.serve(pipeline, guards)

    def _watch_topics(self) -> None:
        """Tells how far each table is behind its topic; in a thread of its own, as Kafka may keep it waiting."""
        while not self._stopping.wait(WATCH_EVERY_S):
            flows = {name: flow for name, flow in list(self._flows.items()) if flow.table is not None}
            ends = {topic: self._ends(topic) for topic in {flow.table.table.topic for flow in flows.values()}}
            for name, flow in flows.items():
                age = flow.backlog.age_s(flow.reached(), ends[flow.table.table.topic], time.monotonic())
                self._progress.note(name, behind_s=age)

    def _ends(self, topic: str) -> Dict[int, int]:
        try:
            return self._broker.ends(topic)
        except Exception as error:  # py4j, whatever it is: the watch goes on
            LOG.warning("Kafka does not say what %s holds: %s", topic, cause(error))
            return {}


def main(argv: List[str]) -> int:
    """Runs the job until SIGTERM."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", required=True, help="the rendered pipeline file, any path that Hadoop reads")
    parser.add_argument("--layers", default="silver,bronze", help="which layers to write, default both")
    args = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    logging.getLogger("py4j").setLevel(logging.WARNING)
    spark = SparkSession.builder.appName("lake stream").getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    keep_names(spark)
    stream = Stream(spark, args.config, args.layers.split(","))
    signal.signal(signal.SIGTERM, stream.stop)
    try:
        stream.admit()
        stream.run()
    except Held as held:
        LOG.error("refused: %s", held.args[0])
        stream.failed = True
    spark.stop()
    return 1 if stream.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
