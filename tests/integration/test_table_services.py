"""Table services of a file slice that has grown."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from spark_jobs import commits, services
from spark_jobs.progress import Progress
from spark_jobs.silver import SilverTable
from tests.integration import own_table
from tests.integration.lab import Lab

pytestmark = pytest.mark.integration
S3A_POOL = 96  # connections, by Hadoop's default


def grown(done: Lab, log_files: int) -> SilverTable:
    """A merge-on-read table of its own on the S3 server, with so many commits after the first."""
    folder: Path = done.home.data / "s3" / done.home.bucket / "grown"
    shutil.rmtree(folder, ignore_errors=True)
    silver = own_table.writer(done.spark, done.home, "lab.hot", "mor", folder)
    silver.target = replace(silver.target, path=f"s3a://{done.home.bucket}/{folder.name}")
    for number in range(log_files + 1):
        messages = own_table.messages(done.spark, done.home, silver.table.topic, number, number + 1)
        silver.write(messages, Progress())
    return silver


def rows(done: Lab, silver: SilverTable, kind: str = "snapshot") -> int:
    reader = done.spark.read.option("hoodie.datasource.query.type", kind)
    return len(reader.format("hudi").load(silver.target.path).collect())


@pytest.mark.slow
def test_more_log_files_than_s3a_has_connections_by_default(done: Lab) -> None:
    """Seen where a compaction had failed: no query and no later compaction came to an end, for good."""
    silver = grown(done, S3A_POOL + 4)
    merged = rows(done, silver)
    assert commits.since_service(done.spark, silver.target.path, "mor") == S3A_POOL + 5, "or a new job never compacts"
    services.serve(done.spark, silver)
    assert rows(done, silver, "read_optimized") == merged > 0
    assert commits.since_service(done.spark, silver.target.path, "mor") == 0
