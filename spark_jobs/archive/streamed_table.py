"""A Hudi table that HoodieStreamer writes from the archive: one commit at a time, or for ever."""

import json
import logging
import time
from dataclasses import dataclass
from typing import Any, Dict, List

from pyspark.sql import SparkSession

from spark_jobs.archive.files import OFFSET_FIELD
from spark_jobs.events import flatten
from spark_jobs.events.message_form import with_fields
from spark_jobs.hudi import timeline
from spark_jobs.hudi.table import stored_columns
from spark_jobs.kafka.schema_registry import Registry, UnknownSchema
from spark_jobs.runtime import storage
from spark_jobs.runtime.errors import root_cause
from spark_jobs.runtime.jvm import java
from spark_jobs.runtime.pipeline import Table

LOG = logging.getLogger("streamer")
STREAMER = "org.apache.hudi.utilities.streamer.HoodieStreamer"
BEGINNING = "beginning"  # a checkpoint that lake.streamer.BronzePosition takes for none


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
            self.prepare()
            self._run(replay)
            self.result.update(state="read", reason=None)
        except UnknownSchema as missing:
            self.result.update(state="empty", reason=str(missing))
        except Exception as error:  # py4j wraps whatever HoodieStreamer throws
            LOG.exception("%s", self.name)
            self.result.update(state="failed", reason=root_cause(error))
        self.result["seconds"] = round(time.time() - began, 1)

    def versions(self) -> int:
        """How many schemas the topic has had; UnknownSchema when it has none yet."""
        return len(self.registry.require(self.table.topic + "-value"))

    def prepare(self) -> None:
        """Writes the schema that all files of the archive can be read with, and the SQL that makes rows from them."""
        line = timeline.timeline(self.spark, self.path)
        timeline.refuse_clock(self.spark, line, self.path)
        columns = stored_columns(self.spark, self.path, timeline.last_position(line)).names
        versions = self.registry.versions(self.table.topic + "-value")
        schema = archive_schema(versions if self.schemas == "file" else versions[-1:])
        storage.write_text(self.spark, self.target["schema"], json.dumps(schema))
        sql = flatten.query(schema, self.table, OFFSET_FIELD, columns)
        storage.write_text(self.spark, self.target["sql"], sql)

    def words(self, operation: List[str], checkpoint: str = "") -> List[str]:
        """The words of HoodieStreamer's command line. checkpoint: where to read from, not after the last commit."""
        again = ["--checkpoint", checkpoint] if checkpoint else []
        return list(self.target["arguments"] + self.target["schemas"][self.schemas] + operation + again)

    def _run(self, replay: bool) -> None:
        before = timeline.last_instant(self.spark, self.path)
        operation = self.target["follow" if before else "load"]
        run = Run(self.spark, self.words(operation, beginning() if replay else ""))
        try:
            run.sync()
        finally:
            run.shut_down()
        self.note_commits(before, operation)

    def note_commits(self, before: str, operation: List[str]) -> str:
        """Adds the commits after this instant to the result, and returns the last instant."""
        for instant in timeline.instants_after(self.spark, self.path, before):
            self.result.update(
                commits=self.result["commits"] + 1,
                rows=self.result["rows"] + timeline.rows_written(self.spark, self.path, instant),
                instant=instant,
                operation=operation[1],
            )
            before = instant
        return before


def beginning() -> str:
    """The beginning of the archive. Another text each time: Hudi obeys one text once."""
    return "{} {}".format(BEGINNING, int(time.time() * 1000))


class Run:
    """One HoodieStreamer with the words of its command line."""

    def __init__(self, spark: SparkSession, words: List[str]) -> None:
        config = java(spark, STREAMER + "$Config")()
        array = spark.sparkContext._gateway.new_array(java(spark, "java.lang.String"), len(words))
        for place, word in enumerate(words):
            array[place] = word
        java(spark, "org.apache.hudi.com.beust.jcommander.JCommander")(config, None, array)
        self._job = java(spark, STREAMER)(config, spark._jsc)

    def sync(self) -> None:
        """Makes one commit, or with --continuous one after the other until shut_down()."""
        self._job.sync()

    def shut_down(self) -> None:
        """Lets the commit that is being made come to its end."""
        self._job.shutdownGracefully()


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
