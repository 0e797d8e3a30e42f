"""How far back a table is kept."""

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lake.config import versions
from spark_jobs.hudi import retention, table_services
from tests.spark.appended import Turns
from tests.spark.conftest import HOME

COLUMNS = "id int, name string, __deleted string, _order bigint"
pytestmark = pytest.mark.skipif(HOME.release != versions.EMR, reason="Hudi 0.15 has other classes (ADR 37)")


@pytest.fixture
def turns(spark: SparkSession, tmp_path: Path, no_metastore: None) -> Turns:
    """A table of three commits, compacted, of which at least two are kept."""
    made = Turns(spark, tmp_path, COLUMNS, buckets=1)
    made.table.source = replace(made.source, history_s=0.0)
    made.target.options[retention.FEWEST] = "2"
    made.general([(1, "", "false", 1)])
    commit(made, 2)
    made.compact()
    return made


def commit(turns: Turns, times: int) -> None:
    for _ in range(times):
        order = len(turns.instants) + 1
        turns.append([(1, f"{order}", "false", order)])


def commits(turns: Turns) -> list[str]:
    line = turns.line.getCommitsTimeline().filterCompletedInstants()
    return [one.getTimestamp() for one in list(line.getInstants())]


def test_no_commit_is_archived_that_a_read_looks_up(turns: Turns) -> None:
    """A listing that takes long may not show an archived commit, and show one before it: then its rows are missing."""
    commit(turns, 40)
    table_services.archive(turns.table)
    assert set(turns.instants[3:]) < set(commits(turns))
    turns.compact()
    commit(turns, 2)
    table_services.archive(turns.table)
    assert len(commits(turns)) < 40


def test_each_moment_of_the_history_can_be_read(spark: SparkSession, tmp_path: Path, no_metastore: None) -> None:
    turns = Turns(spark, tmp_path, COLUMNS, buckets=1, history="1h")
    turns.target.options[retention.FEWEST] = "2"
    turns.general([(1, "1", "false", 1)])
    for _ in range(3):
        commit(turns, 12)
        turns.compact()
    for number, instant in enumerate(turns.instants, 1):
        assert turns.at(instant) == [(1, f"{number}", "false", number)]
