"""Table services: compaction, cleaning and archiving beside the writer, never in the path of a commit."""

import logging
import time
from contextlib import closing
from functools import partial
from typing import Any, Callable, Sequence

from pyspark.sql import SparkSession

from spark_jobs.hudi import delete_orphans, timeline
from spark_jobs.hudi.table import HudiTable
from spark_jobs.hudi.write_client import write_client
from spark_jobs.runtime import storage
from spark_jobs.runtime.errors import root_cause
from spark_jobs.runtime.jvm import java
from spark_jobs.runtime.status import Progress

LOG = logging.getLogger("services")


def attend(spark: SparkSession, table: HudiTable, progress: Progress, requests: str, every: int) -> None:
    """Whatever is due for one table. What fails leaves the table whole, holds up nothing else, and is tried again.

    Soon: a file slice grows with each commit until it is compacted, and with it the cost of each query.
    """
    now = time.time()
    if not table.schedule.may_try(now):
        return
    services = (
        table.metastore.sync,
        partial(delete_orphans.delete_requested, spark, table, requests),
        partial(serve_due, spark, table, requests, every),
        partial(count_due, table, progress, now),
    )
    failures = list(filter(None, [_failure(table.name, service) for service in services]))
    table.schedule.tried(bool(failures), time.time())
    progress.note(table.name, service_failure="; ".join(failures), sync_failure=table.metastore.failure)


def sync_overdue(tables: Sequence[HudiTable], progress: Progress) -> None:
    """Syncs the tables that the metastore missed, up to the first failure: then it may be away.

    A sync takes a moment. In attend() it would wait until all tables before it are counted and compacted.
    """
    for table in tables:
        if table.metastore.failure:
            table.metastore.sync()
            progress.note(table.name, sync_failure=table.metastore.failure)
            if table.metastore.failure:
                return


def _failure(name: str, service: Callable[[], None]) -> str:
    """Runs it; what went wrong, or ''."""
    try:
        service()
    except Exception as error:  # py4j
        LOG.warning("%s: table service failed: %s", name, root_cause(error), exc_info=True)
        return root_cause(error)
    return ""


def serve_due(spark: SparkSession, table: HudiTable, requests: str, every: int) -> None:
    """Serves what is due, or when the file <requests>/<table> asks for it."""
    asked = table.name in storage.names(spark, requests)
    before = table.schedule.unserved
    if asked or table.schedule.is_due(every):
        began = time.monotonic()
        serve(spark, table)
        LOG.info("%s: served behind %d commits in %.1f s", table.name, before.commits, time.monotonic() - began)
        table.schedule.served(before)
        table.metastore.check()
    if asked:
        storage.delete(spark, "{}/{}".format(requests, table.name))


def count_due(table: HudiTable, progress: Progress, now: float) -> None:
    """Counts the live rows when that is due."""
    if table.schedule.is_count_due(now):
        rows = table.read().where("__deleted = 'false'").count()
        table.schedule.counted(now)
        progress.note(table.name, rows=rows, rows_at=now)


def serve(spark: SparkSession, table: HudiTable) -> None:
    """Compacts (merge-on-read only), cleans and archives. Only planning holds the writer up.

    Cleaning and archiving touch only what is older than all that the writer reads, as Hudi's own asynchronous
    services do; they don't wait for a compaction that fails.
    """
    with closing(write_client(spark, table.target)) as client:
        try:
            if table.target.type == "mor":
                _compact_pending(spark, table, client)  # a new plan leaves out file slices that an old one has
                plan_compaction(spark, table, client)
                _compact_pending(spark, table, client)
        finally:
            client.clean()
            archive(spark, table)


def plan_compaction(spark: SparkSession, table: HudiTable, client: Any) -> None:
    """Hudi can't plan a compaction while an earlier commit is in flight, or was when a writer died: hence the lock.

    Running the plan beside the writer is safe, its new log files go to the next file slice.
    """
    with table.lock:
        client.rollbackFailedWrites()
        client.scheduleCompaction(java(spark, "org.apache.hudi.common.util.Option").empty())


def _compact_pending(spark: SparkSession, table: HudiTable, client: Any) -> None:
    """Runs every plan there is. What a crash left half done of one is rolled back before."""
    line = timeline.meta_client(spark, table.path).getActiveTimeline()
    for instant in list(line.filterPendingCompactionTimeline().getInstants()):
        result = client.compact(instant.getTimestamp())
        empty = java(spark, "org.apache.hudi.common.util.Option").empty()
        client.commitCompaction(instant.getTimestamp(), result.getCommitMetadata().get(), empty)


def archive(spark: SparkSession, table: HudiTable) -> None:
    """Runs without the lock: it keeps archivers from each other, here is only one, and the writer would wait for it."""
    unlocked = java(spark, "org.apache.hudi.config.HoodieLockConfig").LOCK_PROVIDER_CLASS_NAME
    with closing(write_client(spark, table.target, {unlocked.key(): unlocked.defaultValue()})) as client:
        client.archive()
