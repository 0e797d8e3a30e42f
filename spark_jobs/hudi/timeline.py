"""The Hudi timeline of a table: the positions in its last commits, and its table services."""

import json
from functools import lru_cache
from typing import Any, Callable, Dict, List, Optional, Tuple

from py4j.java_gateway import JavaClass
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from spark_jobs.runtime import storage
from spark_jobs.runtime.jvm import java

PREFIX = "lake."
CHECKPOINT = "deltastreamer.checkpoint.key"  # HoodieStreamer's own, in Hudi 0.14
WRAPPER = "org.apache.hudi.hadoop.fs.HadoopFSUtils"
PROPERTIES = ("hoodie.properties", "hoodie.properties.backup", "hoodie.properties")  # it may be back meanwhile


class ClockBehind(Exception):
    """The last instant of a table is in this machine's future."""


def metadata_options(entries: Dict[str, Any]) -> Dict[str, str]:
    """Write options that put the entries into the commit's own metadata, atomically with its rows."""
    return {PREFIX + name: json.dumps(value) for name, value in entries.items()}


def last_position(line: Optional[Any]) -> Dict[str, Any]:
    """The entries of the newest commit of a timeline() that carries any; empty for a table without commits."""
    if line is None:
        return {}
    instants = line.getCommitsTimeline().filterCompletedInstants().getReverseOrderedInstants().iterator()
    while instants.hasNext():
        found = position_in(line, instants.next())
        if found:
            return found
    return {}


def position_in(line: Any, instant: Any) -> Dict[str, Any]:
    """The entries of one complete commit; empty for a commit without any."""
    extra = commit_metadata(line, instant).get("extraMetadata") or {}
    return {name[len(PREFIX) :]: json.loads(extra[name]) for name in extra if name.startswith(PREFIX)}


def commit_metadata(line: Any, instant: Any) -> Dict[str, Any]:
    """What a complete commit says of itself, as parsed JSON."""
    return dict(json.loads(bytes(line.getInstantDetails(instant).get()).decode("utf-8")))


def exists(spark: SparkSession, path: str) -> bool:
    """True when there is a Hudi table at the path."""
    # Hudi 0.14 replaces the file in each commit (HoodieTableConfig.modify): it makes a backup, deletes the file, writes
    # a new one and deletes the backup. A job that died in between leaves only the backup.
    return any(storage.exists(spark, path + "/.hoodie/" + name) for name in PROPERTIES)


def clear_unborn(spark: SparkSession, path: str) -> None:
    """Deletes the remains of a job that died while it created the table: folders without a single file in them.

    Hudi 0.14 considers the folder a table (HoodieSparkSqlWriter) and can't write to it without the properties, which it
    creates last (HoodieTableMetaClient.initTableAndGetMetaClient). If there is a file, the properties were lost: that
    table is not changed.
    """
    folder = path + "/.hoodie"
    if storage.exists(spark, folder) and not storage.has_files(spark, folder):
        storage.delete(spark, folder)


def written(spark: SparkSession, path: str) -> bool:
    """True when a commit is complete. The first change of a source table makes its lake table, so there may be none."""
    return bool(last_instant(spark, path))


def timeline(spark: SparkSession, path: str) -> Optional[Any]:
    """The present active timeline (a Java HoodieActiveTimeline); None when there is no table."""
    return meta_client(spark, path).getActiveTimeline() if exists(spark, path) else None


def meta_client(spark: SparkSession, path: str) -> Any:
    """Hudi's metadata of a table, loaded now (a Java HoodieTableMetaClient)."""
    builder = java(spark, "org.apache.hudi.common.table.HoodieTableMetaClient").builder()
    return builder.setConf(_settings(spark)).setBasePath(path).build()


def _settings(spark: SparkSession) -> Any:
    """Hadoop's settings, as Hudi takes them: 0.15 in an object of its own (StorageConfiguration), 0.14 as they are."""
    settings = spark._jsc.hadoopConfiguration()
    wrap = _wrapper(spark._sc._gateway)
    return wrap(settings) if wrap else settings


def is_hudi_0_14(spark: SparkSession) -> bool:
    """False with Hudi 0.15, whose classes below its client are others."""
    return _wrapper(spark._sc._gateway) is None


@lru_cache(maxsize=None)
def _wrapper(gateway: Any) -> Optional[Callable[[Any], Any]]:
    try:
        return JavaClass(WRAPPER, gateway._gateway_client).getStorageConf  # type: ignore[no-any-return]
    except Py4JError:  # no such class
        return None


def unfinished(line: Optional[Any]) -> bool:
    """True if there is an unfinished commit, or rollback of one: both end before the next commit begins."""
    lines = (line.getCommitsTimeline(), line.getRollbackTimeline()) if line else ()
    return any(not one.filterInflightsAndRequested().empty() for one in lines)


def refuse_clock(spark: SparkSession, line: Optional[Any], path: str) -> None:
    """Raises ClockBehind. Of two versions of a file the one with the later instant counts: earlier ones would be lost.

    Within one JVM Hudi waits until its clock is past the last instant (HoodieInstantTimeGenerator); a new one
    knows of none.
    """
    last = line.lastInstant() if line else None
    if not last or not last.isPresent():
        return
    times = java(spark, "org.apache.hudi.common.table.timeline.HoodieInstantTimeGenerator")
    newest, now = str(last.get().getTimestamp()), str(times.formatDate(java(spark, "java.util.Date")()))
    if newest > now:
        what = "the clock of this machine, {}, is behind the last commit of {}, {}: set the clock; "
        what += "until then nothing is written"
        raise ClockBehind(what.format(now, path, newest))


def last_instant(spark: SparkSession, path: str) -> str:
    """The newest complete commit; '' when there is none."""
    line = timeline(spark, path)
    last = line.getCommitsTimeline().filterCompletedInstants().lastInstant() if line else None
    return str(last.get().getTimestamp()) if last and last.isPresent() else ""


def instants_after(spark: SparkSession, path: str, instant: str) -> List[str]:
    """The complete commits after an instant, oldest first; all of them after ''."""
    line = timeline(spark, path)
    if line is None:
        return []
    found = line.getCommitsTimeline().filterCompletedInstants().findInstantsAfter(instant).getInstants()
    return [str(one.getTimestamp()) for one in found]


def checkpoint(spark: SparkSession, path: str) -> Tuple[str, str]:
    """The newest commit of HoodieStreamer, and how far it has read; ("", "") when there is none."""
    line = timeline(spark, path)
    if line is None:
        return "", ""
    instants = line.getCommitsTimeline().filterCompletedInstants().getReverseOrderedInstants().iterator()
    while instants.hasNext():
        instant = instants.next()
        found = (commit_metadata(line, instant).get("extraMetadata") or {}).get(CHECKPOINT)
        if found:
            return str(instant.getTimestamp()), str(found)
    return "", ""


def since_service(spark: SparkSession, line: Optional[Any], kind: str) -> int:
    """How many commits came after the last compaction of a merge-on-read table, or cleaning of a copy-on-write one."""
    if line is None:
        return 0
    served = java(spark, "java.util.Collections").singleton("commit" if kind == "mor" else "clean")
    last = line.getTimelineOfActions(served).filterCompletedInstants().lastInstant()
    made = line.getCommitsTimeline().filterCompletedInstants()
    return int((made.findInstantsAfter(last.get().getTimestamp()) if last.isPresent() else made).countInstants())


def rows_written(spark: SparkSession, path: str, instant: str) -> int:
    """How many rows a complete commit inserted or updated."""
    line = meta_client(spark, path).getActiveTimeline().filterCompletedInstants()
    commit = line.findInstantsAfterOrEquals(instant, 1).firstInstant().get()
    stats = [stat for files in commit_metadata(line, commit)["partitionToWriteStats"].values() for stat in files]
    return sum(stat["numInserts"] + stat["numUpdateWrites"] for stat in stats)
