"""HoodieStreamer over the archive: several tables in one application, each continued from its last commit.

    spark-submit --jars <hudi-utilities>,<lake-streamer> spark_jobs/streamer.py --config <pipeline.json>
        --streamer <streamer.json> [--place bronze=<bucket> ...] --output <result.json> --status <status.json>
        [--tables moma.artists,...] [--types cow,mor] [--schemas file|registry] [--once] [--replay] [--interval-s 5]

The tables are written one after the other. HoodieStreamer's own --continuous would read one table forever, with its
first schema; and its AvroDFSSource keeps that schema in a setting that all tables of an application share. All tables
are claimed before the first is written, and each claim is checked before its table is written (lease.py). The exit code
is 0 if all tables were read, 1 if one failed or a claim was lost, 2 on bad input or if another job writes a table.
"""

import json
import logging
import threading
import time
from dataclasses import dataclass
from typing import Any, Callable, Dict, List

from pyspark.sql import SparkSession

from spark_jobs.archive.files import OFFSET_FIELD
from spark_jobs.events import flatten
from spark_jobs.events.decode import with_fields
from spark_jobs.hudi import timeline
from spark_jobs.hudi.lease import Held, Leases
from spark_jobs.hudi.table import stored_columns
from spark_jobs.kafka.schema_registry import Registry, UnknownSchema
from spark_jobs.runtime import batch_job, storage
from spark_jobs.runtime.batch_job import Refused
from spark_jobs.runtime.errors import root_cause
from spark_jobs.runtime.jvm import java
from spark_jobs.runtime.pipeline import Pipeline, Table, chosen, read_pipeline

LOG = logging.getLogger("streamer")
STREAMER = "org.apache.hudi.utilities.streamer.HoodieStreamer"
BEGINNING = "beginning"  # a checkpoint that lake.streamer.BronzePosition treats as none
STATUS_S = 10.0  # a large table takes minutes: a new status shows that the job is alive


@dataclass(eq=False)
class StreamedTable:
    """One Hudi table of the streamer path."""

    spark: SparkSession
    table: Table
    target: Dict[str, Any]
    registry: Registry
    schemas: str

    def __post_init__(self) -> None:
        self.name, self.path = str(self.target["name"]), str(self.target["path"])
        self.result: Dict[str, Any] = {"state": "waiting", "commits": 0, "rows": 0, "operation": None}

    def sync(self, replay: bool) -> None:
        """Reads new files of the archive, in one commit. A failure is in the result, and the next round tries again."""
        began = time.time()
        try:
            line = timeline.timeline(self.spark, self.path)
            timeline.refuse_clock(self.spark, line, self.path)
            self._prepare(stored_columns(self.spark, self.path, timeline.last_position(line)).names)
            self._run(replay)
            self.result.update(state="read", reason=None)
        except UnknownSchema as missing:
            self.result.update(state="empty", reason=str(missing))
        except Exception as error:  # py4j wraps whatever HoodieStreamer throws
            LOG.exception("%s", self.name)
            self.result.update(state="failed", reason=root_cause(error))
        self.result["seconds"] = round(time.time() - began, 1)

    def _prepare(self, columns: List[str]) -> None:
        """The schema that all files of the archive can be read with, and the SQL that makes rows from them."""
        versions = self.registry.versions(self.table.topic + "-value")
        schema = archive_schema(versions if self.schemas == "file" else versions[-1:])
        storage.write_text(self.spark, self.target["schema"], json.dumps(schema))
        sql = flatten.query(schema, self.table, OFFSET_FIELD, columns)
        storage.write_text(self.spark, self.target["sql"], sql)

    def _run(self, replay: bool) -> None:
        before = timeline.last_instant(self.spark, self.path)
        operation = self.target["follow" if before else "load"]
        schemas = self.target["schemas"][self.schemas]
        # A different text each time: Hudi acts on the same text only once.
        replayed = ["--checkpoint", "{} {}".format(BEGINNING, int(time.time() * 1000))]
        words = self.target["arguments"] + schemas + operation + (replayed if replay else [])
        hoodie_streamer(self.spark, words)
        after = timeline.last_instant(self.spark, self.path)
        if after != before:
            self.result.update(
                commits=self.result["commits"] + 1,
                rows=self.result["rows"] + timeline.rows_written(self.spark, self.path, after),
                instant=after,
                operation=operation[1],
            )


def hoodie_streamer(spark: SparkSession, words: List[str]) -> None:
    """One run of HoodieStreamer with the words of its command line."""
    config = java(spark, STREAMER + "$Config")()
    array = spark.sparkContext._gateway.new_array(java(spark, "java.lang.String"), len(words))
    for place, word in enumerate(words):
        array[place] = word
    java(spark, "org.apache.hudi.com.beust.jcommander.JCommander")(config, None, array)
    job = java(spark, STREAMER)(config, spark._jsc)
    try:
        job.sync()
    finally:
        job.shutdownGracefully()


def archive_schema(versions: List[Dict[str, Any]]) -> Dict[str, Any]:
    """One schema for files of all versions (oldest first): the newest, then what older ones had, and the offset.

    Every column may be missing, because files of other versions may not have it.
    """
    fields: Dict[str, Dict[str, Any]] = {}
    for version in reversed(versions):
        for field in version["fields"]:
            fields.setdefault(field["name"], optional(field))
    return with_fields(versions[-1], list(fields.values()) + [{"name": OFFSET_FIELD, "type": "long"}])


def optional(field: Dict[str, Any]) -> Dict[str, Any]:
    """The field of a record, null where a record has none."""
    branches = field["type"] if isinstance(field["type"], list) else [field["type"]]
    present = [branch for branch in branches if branch != "null"]
    return {"name": field["name"], "type": ["null"] + present, "default": None}


class Job:
    """All tables of one run."""

    def __init__(self, spark: SparkSession, pipeline: Pipeline, targets: List[Dict[str, Any]], args: Any) -> None:
        registry = Registry(pipeline.registry)
        tables = {"{0.database}.{0.table}".format(table): table for table in chosen(pipeline, args.tables)}
        wanted = [one for one in targets if one["table"] in tables and one["type"] in args.types.split(",")]
        self.tables = [StreamedTable(spark, tables[one["table"]], one, registry, args.schemas) for one in wanted]
        if not wanted:
            raise Refused("no chosen table has a target of these types: {}".format(args.types))
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
            self._round(self._args.replay)
            while not self._args.once:
                time.sleep(self._args.interval_s)
                self._round(False)
        finally:
            self._ended.set()
            self._leases.release_all()
        return self._content()

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
    options.add_argument("--tables", default="")
    options.add_argument("--types", default="cow,mor")
    options.add_argument("--schemas", choices=("file", "registry"), default="file")
    options.add_argument("--once", action="store_true", help="one round")
    options.add_argument("--replay", action="store_true", help="read the whole archive again in the first round")
    options.add_argument("--interval-s", type=float, default=5.0)
    batch_job.run(options, work, code)
