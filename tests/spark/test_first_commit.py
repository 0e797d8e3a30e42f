"""A job that dies while it makes a table: the next one makes it all the same, and nothing is lost."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.poisoned import OURS, message
from tests.spark.hudi_lab import Lab

pytestmark = pytest.mark.usefixtures("no_metastore")
FOLDERS = ("", ".schema", "archived", ".temp", ".aux", ".aux/.bootstrap/.partitions", ".aux/.bootstrap/.fileids")


@pytest.mark.parametrize("kind", ["cow", "mor"])
def test_folders_without_properties(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    unborn(tmp_path / kind)
    lab = Lab(spark, tmp_path, types=(kind,))
    lab.write(message(OURS, id=1, name="a"))
    lab.write(message(OURS, id=1, name="b"), first=1)
    assert lab.rows() == {1: "b"}


def test_a_quarantine_without_properties(spark: SparkSession, tmp_path: Path) -> None:
    unborn(tmp_path / "quarantine")
    lab = Lab(spark, tmp_path)
    lab.write(message(OURS, id=1, name="a"), b"\x07")
    assert [one["offset"] for one in lab.aside()] == [1]


def unborn(table: Path) -> None:
    """What HoodieTableMetaClient.initTableAndGetMetaClient makes before hoodie.properties."""
    for name in FOLDERS:
        (table / ".hoodie" / name).mkdir(parents=True, exist_ok=True)
