"""Table services: compaction, cleaning and archiving, which run while the writer commits and never delay it."""

import logging
import time
from contextlib import closing
from functools import partial
from typing import Any, Callable, Dict, Sequence, Set

from spark_jobs.hudi import delete_orphans, retention, timeline
from spark_jobs.hudi.compaction_check import committed_rows, refuse_incomplete
from spark_jobs.hudi.table import HudiTable
from spark_jobs.hudi.write_client import roll_back, write_client
from spark_jobs.runtime.errors import root_cause
from spark_jobs.runtime.jvm import java
from spark_jobs.runtime.status import Progress

LOG = logging.getLogger("services")
COMPACT, DELETE_ORPHANS = "compact", "delete-orphans"  # services that operators may request


def is_due(table: HudiTable, every: int, now: float) -> bool:
    """True if attend() would do something without a request. It costs nothing to know."""
    schedule = table.schedule
    due = table.metastore.is_due or schedule.is_due(every) or schedule.is_count_due(now)
    return due and schedule.may_try(now)


def attend(table: HudiTable, progress: Progress, every: int, compact: bool, bounds: Sequence[int]) -> Set[str]:
    """Runs the services of one table that are due or requested, and returns the names of those that did not fail.

    compact: compaction is requested. bounds: orphaned rows below each of these orders are to be deleted. A service that
    fails leaves the table whole, delays no other service, and is tried again soon: a file slice grows with each commit
    until it is compacted, and with it the cost of each query.
    """
    now = time.time()
    if not table.schedule.may_try(now):
        return set()
    services: Dict[str, Callable[[], None]] = {
        "sync": table.metastore.sync,
        DELETE_ORPHANS: partial(delete_orphans.delete_requested, table, bounds),
        COMPACT: partial(serve_due, table, every, compact),
        "count": partial(count_due, table, progress, now),
    }
    failures = {name: _failure(table.name, service) for name, service in services.items()}
    reasons = [reason for reason in failures.values() if reason]
    table.schedule.tried(bool(reasons), time.time())
    progress.note(table.name, service_failure="; ".join(reasons), sync_failure=table.metastore.failure)
    return {name for name, reason in failures.items() if not reason}


def sync_overdue(tables: Sequence[HudiTable], progress: Progress) -> None:
    """Syncs the tables that the metastore missed, up to the first failure: then it may not answer at all.

    A sync takes a moment. In attend() it would wait until all tables before it are counted and compacted.
    """
    for table in tables:
        if table.metastore.failure:
            table.metastore.sync()
            progress.note(table.name, sync_failure=table.metastore.failure)
            if table.metastore.failure:
                return


def _failure(name: str, service: Callable[[], None]) -> str:
    """Runs the service. Returns what went wrong, or ''."""
    try:
        service()
    except Exception as error:  # py4j
        LOG.warning("%s: table service failed: %s", name, root_cause(error), exc_info=True)
        return root_cause(error)
    return ""


def serve_due(table: HudiTable, every: int, requested: bool) -> None:
    """Compacts, cleans and archives if that is due or requested."""
    before = table.schedule.unserved
    if requested or table.schedule.is_due(every):
        began = time.monotonic()
        serve(table)
        LOG.info("%s: served after %d commits in %.1f s", table.name, before.commits, time.monotonic() - began)
        table.schedule.served(before)
        table.metastore.check()


def count_due(table: HudiTable, progress: Progress, now: float) -> None:
    """Counts the live rows if that is due."""
    if table.schedule.is_count_due(now):
        rows = table.read().where("__deleted = 'false'").count()
        table.schedule.counted(now)
        progress.note(table.name, rows=rows, rows_at=now)


def serve(table: HudiTable) -> None:
    """Compacts (merge-on-read only), cleans and archives. Only planning blocks the writer.

    Cleaning and archiving touch only files that are older than everything the writer reads, as Hudi's own asynchronous
    services do. They don't wait for a compaction that fails.
    """
    try:
        if table.target.type == "mor":
            compact(table)
    finally:
        clean(table)
        archive(table)


def compact(table: HudiTable) -> None:
    """Plans a compaction and runs it."""
    with closing(write_client(table.spark, table.target)) as client:
        _compact_pending(table, client)  # a new plan leaves out the file slices of an old one
        plan_compaction(table, client)
        _compact_pending(table, client)


def plan_compaction(table: HudiTable, client: Any) -> None:
    """Hudi can't plan a compaction while an earlier commit is in flight, or was when a writer died: hence the lock.

    Running the plan while the writer commits is safe: its new log files go to the next file slice.
    """
    with table.lock:
        roll_back(table.spark, table.target)
        client.scheduleCompaction(java(table.spark, "org.apache.hudi.common.util.Option").empty())


def _compact_pending(table: HudiTable, client: Any) -> None:
    """Runs every pending plan. An unfinished run of a plan is rolled back first. Raises Incomplete."""
    plans = java(table.spark, "org.apache.hudi.common.util.CompactionUtils")
    empty = java(table.spark, "org.apache.hudi.common.util.Option").empty()
    meta = timeline.meta_client(table.spark, table.path)
    line = meta.getActiveTimeline()
    for instant in [str(one.getTimestamp()) for one in list(line.filterPendingCompactionTimeline().getInstants())]:
        committed = committed_rows(line, plans.getCompactionPlan(meta, instant), instant)
        done = client.compact(instant).getCommitMetadata().get()
        refuse_incomplete(committed, done.getWriteStats())
        client.commitCompaction(instant, done, empty)


def clean(table: HudiTable) -> None:
    """Deletes the files from which no moment of the kept history is read."""
    with closing(write_client(table.spark, table.target, _kept(table))) as client:
        client.clean()


def archive(table: HudiTable) -> None:
    """Runs without the lock, which only separates archivers: here is only one, and the writer would wait for it."""
    unlocked = java(table.spark, "org.apache.hudi.config.HoodieLockConfig").LOCK_PROVIDER_CLASS_NAME
    options = {**_kept(table), unlocked.key(): unlocked.defaultValue()}
    with closing(write_client(table.spark, table.target, options)) as client:
        client.archive()


def _kept(table: HudiTable) -> Dict[str, str]:
    line, fewest = timeline.timeline(table.spark, table.path), int(table.target.options[retention.FEWEST])
    return retention.options(line, fewest, table.source.history_s)
