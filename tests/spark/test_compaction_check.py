"""A compaction that does not read all that was committed is not committed."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from spark_jobs.hudi import table_services, timeline
from spark_jobs.hudi.compaction_check import Incomplete, committed_rows, refuse_incomplete
from spark_jobs.hudi.write_client import write_client
from spark_jobs.runtime.jvm import java
from tests.spark.appended import Turns

COLUMNS = "id int, name string, __deleted string, _order bigint"


def rows(order: int) -> list[tuple[Any, ...]]:
    return [(id, f"{order}", "false", order) for id in range(10)]


@pytest.fixture
def turns(spark: SparkSession, tmp_path: Path, no_metastore: None) -> Turns:
    """Two buckets, and three commits in their logs."""
    made = Turns(spark, tmp_path, COLUMNS, buckets=2)
    for order in range(1, 5):
        made.general(rows(order), offsets={"0": order})
    return made


def planned(turns: Turns) -> tuple[Any, str, dict[str, int]]:
    """The timeline, the instant of the plan, and the rows that it has to read."""
    turns.plan_compaction()
    meta = timeline.meta_client(turns.spark, turns.path)
    (one,) = list(meta.getActiveTimeline().filterPendingCompactionTimeline().getInstants())
    plan = java(turns.spark, "org.apache.hudi.common.util.CompactionUtils").getCompactionPlan(meta, one.getTimestamp())
    return plan, one.getTimestamp(), committed_rows(meta.getActiveTimeline(), plan, one.getTimestamp())


def test_all_rows_of_the_log_are_expected(turns: Turns) -> None:
    _, _, expected = planned(turns)
    assert (len(expected), sum(expected.values())) == (2, 30)
    turns.compact()
    assert turns.optimised() == rows(4)


def test_a_commit_that_the_reader_does_not_see_is_missed(turns: Turns) -> None:
    """Its blocks are passed over, as Hudi does with those of a commit that failed. Then the plan is run again."""
    _, instant, expected = planned(turns)
    seen = turns.meta / f"{turns.instants[2]}.deltacommit"
    seen.rename(seen.with_suffix(".hidden"))
    with closing(write_client(turns.spark, turns.target)) as client:
        done = client.compact(instant).getCommitMetadata().get()
        with pytest.raises(Incomplete, match=r"has read 1\d of 1\d rows of its log"):
            refuse_incomplete(expected, done.getWriteStats())
    seen.with_suffix(".hidden").rename(seen)
    table_services.compact(turns.table)
    assert turns.optimised() == rows(4)


def test_a_plan_without_a_log_file_is_not_run(turns: Turns) -> None:
    plan, instant, _ = planned(turns)
    plan.getOperations().get(0).setDeltaFilePaths(java(turns.spark, "java.util.ArrayList")())
    with pytest.raises(Incomplete, match=f"the plan of compaction {instant} lacks the log file"):
        committed_rows(turns.line, plan, instant)
