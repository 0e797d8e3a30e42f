"""HoodieStreamer over the archive: several tables in one application, each continued from its last commit.

    spark-submit --jars <hudi-utilities>,<lake-streamer> spark_jobs/streamer.py --config <pipeline.json>
        --streamer <streamer.json> [--place bronze=<bucket> ...] --output <result.json> --status <status.json>
        [--table moma.artists]... [--types cow,mor] [--schemas file|registry] [--once] [--replay] [--interval-s 5]
        [--continuous]

The tables are written one after the other. HoodieStreamer's own --continuous would read one table forever; and its
AvroDFSSource keeps the schema in a setting that all tables of an application share. With --continuous there must be one
table of one type, and HoodieStreamer follows it by itself (followed_table.py). All tables are claimed before the first
is written, and each claim is checked before its table is written (lease.py). The exit code is 0 if all tables were
read, 1 if one failed or a claim was lost, 2 on bad input or if another job writes a table.
"""

import json
import logging
import threading
import time
from typing import Any, Callable, Dict, List

from pyspark.sql import SparkSession

from spark_jobs.archive.followed_table import Failed, FollowedTable
from spark_jobs.archive.streamed_table import StreamedTable
from spark_jobs.hudi.claims import Held
from spark_jobs.hudi.lease import Leases
from spark_jobs.kafka.schema_registry import Registry
from spark_jobs.runtime import batch_job, storage
from spark_jobs.runtime.batch_job import Refused
from spark_jobs.runtime.errors import root_cause
from spark_jobs.runtime.pipeline import Pipeline, add_names, chosen, given_names, read_pipeline

LOG = logging.getLogger("streamer")
STATUS_S = 10.0  # a large table takes minutes: a new status shows that the job is alive


class Job:
    """All tables of one run."""

    def __init__(self, spark: SparkSession, pipeline: Pipeline, targets: List[Dict[str, Any]], args: Any) -> None:
        registry = Registry(pipeline.registry)
        tables = {"{0.database}.{0.stored_as}".format(table): table for table in chosen(pipeline, given_names(args))}
        wanted = [one for one in targets if one["table"] in tables and one["type"] in args.types.split(",")]
        self.tables = [StreamedTable(spark, tables[one["table"]], one, registry, args.schemas) for one in wanted]
        if not wanted:
            raise Refused("no chosen table has a target of these types: {}".format(args.types))
        if args.continuous and len(wanted) > 1:
            names = ", ".join(str(one["name"]) for one in wanted)
            raise Refused("--continuous follows one table, and these are {}: {}".format(len(wanted), names))
        self._spark = spark
        self._args = args
        self._writing = threading.Lock()
        self._ended = threading.Event()
        self._leases = Leases(spark, "streamer {}".format(spark.sparkContext.applicationId), LOG.error)

    def run(self) -> Dict[str, Any]:
        """One round, or rounds forever; the status file has the progress of all tables."""
        try:
            self._leases.await_all([table.path for table in self.tables])  # before any is written
        except Held as held:
            raise Refused(held.args[0]) from None
        threading.Thread(target=keep_writing, args=(self._write_status, self._ended), daemon=True).start()
        try:
            self._follow(self.tables[0]) if self._args.continuous else self._take_turns()
        finally:
            self._ended.set()
            self._leases.release_all()
        return self._content()

    def _take_turns(self) -> None:
        self._round(self._args.replay)
        while not self._args.once:
            time.sleep(self._args.interval_s)
            self._round(False)

    def _follow(self, table: StreamedTable) -> None:
        """Until HoodieStreamer fails."""
        try:
            FollowedTable(table, self._args.interval_s, lambda: self._leases.check(table.path)).follow()
        except Failed as failed:
            table.result.update(state="failed", reason=str(failed))
            self._write_status()

    def _round(self, replay: bool) -> None:
        for table in self.tables:
            self._leases.check(table.path)  # Lost ends the job: another one may write by now
            table.result["state"] = "reading"
            self._write_status()
            table.sync(replay)
            self._write_status()

    def _write_status(self) -> None:
        with self._writing:
            storage.write_text(self._spark, self._args.status, json.dumps(dict(self._content(), at=time.time())))

    def _content(self) -> Dict[str, Any]:
        return {"tables": {table.name: dict(table.result) for table in self.tables}}


def keep_writing(write_status: Callable[[], None], ended: threading.Event) -> None:
    """Writes the status from time to time until the job ends."""
    while not ended.wait(STATUS_S):
        try:
            write_status()
        except Exception as error:  # py4j: the storage does not answer; if that lasts, the round fails, too
            LOG.warning("the status could not be written: %s", root_cause(error))


def settled(spark: SparkSession, path: str, places: List[str]) -> List[Dict[str, Any]]:
    """Writes the files of streamer.json, and returns its targets. places: bronze=<bucket> replaces @BRONZE@."""
    text = storage.read_text(spark, path)
    for place in places:
        name, _, value = place.partition("=")
        text = text.replace("@{}@".format(name.upper()), value)
    content = json.loads(text)
    for name, properties in content["files"].items():
        storage.write_text(spark, "{}/{}".format(content["folder"], name), properties)
    return list(content["targets"])


def work(spark: SparkSession, args: Any) -> Dict[str, Any]:
    """Reads the archive into all chosen tables."""
    spark.sparkContext.setLogLevel("WARN")
    targets = settled(spark, args.streamer, args.place)
    return Job(spark, read_pipeline(spark, args.config), targets, args).run()


def code(content: Dict[str, Any]) -> int:
    """The exit code: 1 when a table failed."""
    return int(any(table["state"] == "failed" for table in content["tables"].values()))


if __name__ == "__main__":
    options = batch_job.parser("streamer", __doc__, "--output", "--config", "--streamer", "--status")
    options.add_argument("--place", action="append", default=[])
    add_names(options)
    options.add_argument("--types", default="cow,mor")
    options.add_argument("--schemas", choices=("file", "registry"), default="file")
    options.add_argument("--once", action="store_true", help="one round")
    options.add_argument("--replay", action="store_true", help="read the whole archive again in the first round")
    options.add_argument("--interval-s", type=float, default=5.0)
    options.add_argument("--continuous", action="store_true", help="one table, by HoodieStreamer's own --continuous")
    batch_job.run(options, work, code)
