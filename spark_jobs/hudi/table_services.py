"""Table services: compaction, cleaning and archiving beside the writer, never in the path of a commit."""

import logging
import time
from contextlib import closing
from functools import partial
from typing import Any, Callable, Sequence

from pyspark.sql import SparkSession

from spark_jobs.hudi import delete_orphans, timeline
from spark_jobs.hudi.table import SilverTable
from spark_jobs.hudi.write_client import write_client
from spark_jobs.runtime import storage
from spark_jobs.runtime.errors import cause
from spark_jobs.runtime.jvm import java
from spark_jobs.runtime.status import Progress

LOG = logging.getLogger("services")
QUIET_S = 5.0
STALE_S = 300.0
OVERDUE_S = 1800.0
JUST_SERVED = 20  # commits at most
WHERE_ROWS_MOVE = 4  # times as often: a commit takes 3 s behind a compaction, 8 behind 60 commits (docs/measured.md)
LOG_BYTES = 256 * 1024 * 1024  # of values: a query holds the log of a file slice in memory, whatever its limits
RETRY_S = 10.0
RETRY_MAX_S = 60.0


def attend(spark: SparkSession, silver: SilverTable, progress: Progress, requests: str, every: int) -> None:
    """Whatever is due for one table. What fails leaves the table whole, holds up nothing else, and is tried again.

    Soon: a file slice grows with each commit until it is compacted, and with it the cost of each query.
    """
    now = time.time()
    if now < silver.service_due_at:
        return
    services = (
        silver.sync_catalogue,
        partial(delete_orphans.sweep_asked, spark, silver, requests),
        partial(_serve_due, spark, silver, requests, every),
        partial(_count_due, spark, silver, progress, now),
    )
    failures = list(filter(None, [_failure(silver.name, service) for service in services]))
    silver.service_failures = silver.service_failures + 1 if failures else 0
    silver.service_due_at = time.time() + _wait_s(silver.service_failures)
    progress.note(silver.name, service_failure="; ".join(failures), sync_failure=silver.sync_failure)


def sync_overdue(tables: Sequence[SilverTable], progress: Progress) -> None:
    """Tells the metastore what it missed of tables, up to the first that it does not take: then it may be away.

    That takes a moment, and would wait until all tables before are counted and compacted.
    """
    for silver in tables:
        if silver.sync_failure:
            silver.sync_catalogue()
            progress.note(silver.name, sync_failure=silver.sync_failure)
            if silver.sync_failure:
                return


def _failure(name: str, service: Callable[[], None]) -> str:
    """Runs it; what went wrong, or ''."""
    try:
        service()
    except Exception as error:  # py4j
        LOG.warning("%s: table service failed: %s", name, cause(error), exc_info=True)
        return cause(error)
    return ""


def _wait_s(failures: int) -> float:
    """Longer with each failure in a row: what fails leaves a rollback behind each time."""
    return min(RETRY_S * 2.0 ** (failures - 1), RETRY_MAX_S) if failures else 0.0


def _serve_due(spark: SparkSession, silver: SilverTable, requests: str, every: int) -> None:
    """Serves what is due, or when the file <requests>/<table> asks for it."""
    asked = silver.name in storage.names(spark, requests)
    commits_before, bytes_before = silver.commits_since_service, silver.bytes_since_service
    if asked or _is_due(silver, every):
        began = time.monotonic()
        serve(spark, silver)
        LOG.info("%s: served behind %d commits in %.1f s", silver.name, commits_before, time.monotonic() - began)
        silver.commits_since_service -= commits_before  # others came meanwhile
        silver.bytes_since_service -= bytes_before
        silver.check_catalogue()
    if asked:
        storage.delete(spark, "{}/{}".format(requests, silver.name))


def _is_due(silver: SilverTable, every: int) -> bool:
    """After `every` commits; where there is a log, also when it is large, and sooner where rows move.

    The commit of a partitioned table reads the file slices that rows leave, log and all.
    """
    if silver.target.type != "mor":
        return silver.commits_since_service >= every
    times = WHERE_ROWS_MOVE if silver.table.partition else 1
    return silver.commits_since_service * times >= every or silver.bytes_since_service >= LOG_BYTES


def _count_due(spark: SparkSession, silver: SilverTable, progress: Progress, now: float) -> None:
    """Counts the live rows of a table that has changed: when it falls quiet, and every STALE_S when it does not.

    Then behind a compaction, if one comes: to merge the log files of many commits takes longer than those commits.
    """
    quiet = now >= silver.committed_at + QUIET_S
    stale = now >= silver.counted_at + STALE_S and silver.commits_since_service <= JUST_SERVED
    overdue = now >= silver.counted_at + OVERDUE_S
    if silver.counted_at < silver.committed_at and (quiet or stale or overdue):
        rows = spark.read.format("hudi").load(silver.target.path).where("__deleted = 'false'").count()
        silver.counted_at = now
        progress.note(silver.name, rows=rows, rows_at=now)


def serve(spark: SparkSession, silver: SilverTable) -> None:
    """Compacts (merge-on-read only), cleans and archives. Only planning holds the writer up.

    Cleaning and archiving touch only what is older than all that the writer reads, as Hudi's own asynchronous
    services do; they don't wait for a compaction that fails.
    """
    with closing(write_client(spark, silver.target)) as client:
        try:
            if silver.target.type == "mor":
                _compact_pending(spark, silver, client)  # a new plan leaves out file slices that an old one has
                _plan_compaction(spark, silver, client)
                _compact_pending(spark, silver, client)
        finally:
            client.clean()
            _archive(spark, silver)


def _plan_compaction(spark: SparkSession, silver: SilverTable, client: Any) -> None:
    """Hudi can't plan a compaction while an earlier commit is in flight, or was when a writer died: hence the lock.

    Running the plan beside the writer is safe, its new log files go to the next file slice.
    """
    with silver.lock:
        client.rollbackFailedWrites()
        client.scheduleCompaction(java(spark, "org.apache.hudi.common.util.Option").empty())


def _compact_pending(spark: SparkSession, silver: SilverTable, client: Any) -> None:
    """Runs every plan there is. What a crash left half done of one is rolled back before."""
    line = timeline.meta_client(spark, silver.target.path).getActiveTimeline()
    for instant in list(line.filterPendingCompactionTimeline().getInstants()):
        result = client.compact(instant.getTimestamp())
        empty = java(spark, "org.apache.hudi.common.util.Option").empty()
        client.commitCompaction(instant.getTimestamp(), result.getCommitMetadata().get(), empty)


def _archive(spark: SparkSession, silver: SilverTable) -> None:
    """Without the lock, which keeps archivers from each other: here is one, and the writer would wait for all of it."""
    unlocked = java(spark, "org.apache.hudi.config.HoodieLockConfig").LOCK_PROVIDER_CLASS_NAME
    with closing(write_client(spark, silver.target, {unlocked.key(): unlocked.defaultValue()})) as client:
        client.archive()
