"""Table services of a file slice that has grown."""

import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from spark_jobs.hudi import table_services
from spark_jobs.hudi import timeline as commits
from spark_jobs.hudi.table import META_COLUMNS
from spark_jobs.hudi.write_client import write_client
from tests.integration import own_table, readers
from tests.integration.lab import Lab
from tests.integration.own_table import OwnTable

pytestmark = pytest.mark.integration
COMMITS = 60
S3A_POOL = 96  # connections, by Hadoop's default


def own(done: Lab, name: str, kind: str = "mor") -> OwnTable:
    """A table of the test's own on the S3 server, without a commit."""
    folder = readers.bucket_folder(done.home) / name
    shutil.rmtree(folder, ignore_errors=True)
    return own_table.writer(done.spark, done.home, "lab.hot", kind, f"s3a://{done.home.bucket}/{name}")


def write(done: Lab, silver: OwnTable, count: int, first: int = 0) -> None:
    """So many commits, of one message each, from the given offset on."""
    for number in range(first, first + count):
        messages = own_table.messages(done.spark, done.home, silver.source.topic, number, number + 1)
        silver.write(messages)


def since_service(done: Lab, silver: OwnTable) -> int:
    return commits.since_service(done.spark, commits.timeline(done.spark, silver.path), "mor")


def rows(done: Lab, silver: OwnTable, kind: str = "snapshot") -> list[str]:
    """Without Hudi's own columns."""
    found = done.spark.read.option("hoodie.datasource.query.type", kind).format("hudi").load(silver.path)
    return sorted(map(str, found.select(*found.columns[META_COLUMNS:]).collect()))


@pytest.mark.slow
def test_more_log_files_than_s3a_has_connections_by_default(done: Lab) -> None:
    """Seen where a compaction had failed: no query and no later compaction came to an end, for good."""
    silver = own(done, "grown")
    write(done, silver, S3A_POOL + 5)
    merged = rows(done, silver)
    assert since_service(done, silver) == S3A_POOL + 5, "or a new job never compacts"
    table_services.serve(silver)
    assert rows(done, silver, "read_optimized") == merged != []
    assert since_service(done, silver) == 0


def test_a_plan_that_a_crash_left(done: Lab) -> None:
    """What was written after it was planned is compacted, too (row 6 of the fault matrix)."""
    silver = own(done, "planned")
    write(done, silver, 3)
    with closing(write_client(done.spark, silver.target)) as client:
        table_services.plan_compaction(silver, client)
    write(done, silver, 3, first=3)
    table_services.serve(silver)
    assert rows(done, silver, "read_optimized") == rows(done, silver) != []
    assert since_service(done, silver) == 0


def test_archiving_leaves_no_hole_in_the_timeline(done: Lab) -> None:
    """What is older than its first commit was committed, for a reader; what is missing behind that one was not.

    The table has one commit, and others that are told as it is.
    """
    silver = own(done, "archived", "cow")
    write(done, silver, 1)
    timeline = readers.bucket_folder(done.home) / "archived" / ".hoodie"
    (first,) = [path.name.removesuffix(".commit") for path in timeline.glob("*.commit")]
    for number in range(1, COMMITS):
        for path in timeline.glob(f"{first}.*"):
            shutil.copy2(path, timeline / path.name.replace(first, str(int(first) + number)))
    before, seen, archived = completed(timeline), set(), threading.Event()

    def look() -> None:
        while not archived.is_set():
            seen.add(completed(timeline))

    with ThreadPoolExecutor(1) as pool:
        looking = pool.submit(look)
        table_services.archive(silver)
        archived.set()
        looking.result()
    assert len(completed(timeline)) < len(before) and len(seen) > 2
    assert [kept for kept in seen if kept != before[-len(kept) :]] == []


def completed(timeline: Path) -> tuple[str, ...]:
    return tuple(sorted(name for name in os.listdir(timeline) if name.endswith(".commit")))


@pytest.mark.slow
def test_services_beside_the_writer(done: Lab) -> None:
    """Both replace hoodie.properties in each commit, by way of one backup."""
    silver = own(done, "served")
    write(done, silver, 1)
    ended = threading.Event()

    def serve() -> int:
        rounds = 0
        while not ended.is_set():
            table_services.serve(silver)
            rounds += 1
        return rounds

    with ThreadPoolExecutor(1) as pool:
        serving = pool.submit(serve)
        write(done, silver, COMMITS)
        ended.set()
        assert serving.result() > COMMITS / 10
