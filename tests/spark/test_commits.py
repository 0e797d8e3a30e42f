"""No commit is earlier than the last one; and what a crash leaves of a table's properties."""

from argparse import Namespace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_jobs.hudi import timeline


def line(instant: str) -> Namespace:
    """A timeline that ends with the instant."""
    option = Namespace(isPresent=lambda: True, get=lambda: Namespace(getTimestamp=lambda: instant))
    return Namespace(lastInstant=lambda: option)


def test_a_clock_that_is_behind_is_refused(spark: SparkSession) -> None:
    with pytest.raises(
        timeline.ClockBehind, match=r"is behind the last commit of t_cow, 29991231235959999: set the clock"
    ):
        timeline.refuse_clock(spark, line("29991231235959999"), "t_cow")


def test_a_clock_that_is_right(spark: SparkSession) -> None:
    timeline.refuse_clock(spark, line("20261121123000123"), "t_cow")


@pytest.mark.parametrize(
    ("left", "there"), [("hoodie.properties", True), ("hoodie.properties.backup", True), ("x", False)]
)
def test_a_table_whose_properties_a_crash_left_as_a_backup_is_there(
    spark: SparkSession, tmp_path: Path, left: str, there: bool
) -> None:
    """Else the next commit would load it in bulk, over its rows."""
    (tmp_path / ".hoodie").mkdir()
    (tmp_path / ".hoodie" / left).touch()
    assert timeline.exists(spark, tmp_path.as_uri()) == there


@pytest.mark.parametrize("left", ["", "t.commit"])
def test_a_table_that_a_crash_left_without_any_file_is_cleared_away(
    spark: SparkSession, tmp_path: Path, left: str
) -> None:
    """One whose properties are lost is not: its commits are there."""
    folder = tmp_path / ".hoodie"
    (folder / ".aux").mkdir(parents=True)
    if left:
        (folder / left).touch()
    timeline.clear_unborn(spark, tmp_path.as_uri())
    assert folder.exists() == bool(left)


def test_where_no_table_was_begun_nothing_is_cleared_away(spark: SparkSession, tmp_path: Path) -> None:
    timeline.clear_unborn(spark, (tmp_path / "none").as_uri())
