"""A column of a partitioned table becomes wider, and a row from before moves to another partition."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.poisoned import NARROW, WIDE, WIDE_KEY, message
from tests.spark.hudi_lab import Lab

pytestmark = pytest.mark.usefixtures("no_metastore")
BIG = 2**40


@pytest.mark.parametrize("kind", ["cow", "mor"])
def test_rows_from_before_move(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    lab = Lab(spark, tmp_path, policy="stop", types=(kind,), partition="name")
    lab.write(*(message(NARROW, id=id, name="a", n=id) for id in (1, 2, 3)))
    lab.write(message(WIDE, id=1, name="a", n=BIG), first=3)
    lab.write(message(WIDE, id=2, name="b", n=2), first=4)
    lab.write(message(WIDE_KEY, id=3, name="b", n=3), message(WIDE_KEY, id=BIG, name="b", n=4), first=5)
    found = {(one["id"], one["name"], one["n"]) for one in lab.stored().collect()}
    assert found == {(1, "a", BIG), (2, "b", 2), (3, "b", 3), (BIG, "b", 4)}
