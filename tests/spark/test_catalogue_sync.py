"""When the metastore is told of a table: at once of what changed, and later of what a crash may have left untold."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.poisoned import LATER, OURS, message
from tests.spark.hudi_lab import Lab


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the tables that the metastore is told of."""
    paths: list[str] = []
    monkeypatch.setattr("spark_jobs.hudi.hive_sync.sync", lambda _, target: paths.append(target.path))
    return paths


@pytest.fixture
def lab(spark: SparkSession, tmp_path: Path, told: list[str]) -> Lab:
    """A table with one commit, and a job that begins."""
    before = Lab(spark, tmp_path)
    commit(before, message(OURS, id=1, name="a"))
    assert len(told) == 1, "a new table is told of at once"
    told.clear()
    return Lab(spark, tmp_path)


def test_a_new_job_leaves_to_the_services_what_may_be_untold(lab: Lab, told: list[str]) -> None:
    commit(lab, message(OURS, id=1, name="b"), first=1)
    assert told == []
    for _ in range(2):
        lab.writers[0].table.metastore.sync()
    assert len(told) == 1


def test_it_tells_at_once_of_a_column(lab: Lab, told: list[str]) -> None:
    commit(lab, message(LATER, id=1, name="b", note="c"), first=1)
    assert len(told) == 1
    lab.writers[0].table.metastore.sync()
    assert len(told) == 1


def commit(lab: Lab, value: bytes, first: int = 0) -> None:
    lab.write(value, first=first)
    lab.writers[0].table.metastore.after_commit()
