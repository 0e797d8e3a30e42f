"""The short road ends in the same table as the general one, and leaves to it whatever is not plain."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from spark_jobs.hudi.claims import Held
from spark_jobs.hudi.lease import Leases, Lost
from tests.poisoned import LARGE, LATER, OTHER, OURS, RUN, framed, message
from tests.spark.hudi_lab import Lab

pytestmark = pytest.mark.usefixtures("no_metastore")


def ours(id: int, name: str | None, **more: object) -> bytes:
    return message(OURS, id=id, name=name, **more)


@pytest.fixture(scope="module")
def begun(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """A table with the rows 1 to 3, at offset 3."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("spark_jobs.hudi.hive_sync.sync", lambda *_: None)
        lab = Lab(spark, tmp_path_factory.mktemp("plain"))
        assert lab.append(ours(1, "a")) is None, "the first batch makes the table"
        lab.write(ours(1, "a"), ours(2, "b"), ours(3, "c"))
    return lab


def test_both_roads_take_turns(begun: Lab) -> None:
    assert begun.append(ours(1, "d"), ours(2, "x"), ours(2, "e"), first=3) == {"0": 6}
    assert begun.rows() == {1: "d", 2: "e", 3: "c"}
    begun.write(ours(3, None), first=6)
    gone = {"__op": "d", "__deleted": "true", "__lsn": 77, "__source_ts_ms": 5000}
    assert begun.append(ours(3, "f", **gone), first=7) == {"0": 8}
    assert begun.rows() == {1: "d", 2: "e", 3: "f"}
    position = begun.writers[0].table.position
    kept = {"offsets": {"0": 8}, "lsn": 77, "messages": 1, "source_ts_ms": 5000, "schema_id": OURS}
    assert {name: position[name] for name in kept} == kept


def test_messages_that_are_delivered_again_change_nothing(begun: Lab) -> None:
    before = begun.rows()
    assert begun.append(ours(1, "a"), ours(2, "b"), ours(3, "c")) == {"0": 3}
    assert begun.rows() == before


@pytest.mark.parametrize(
    "messages",
    [
        [message(LATER, id=1, name="a", note="n")],
        [ours(1, "a"), message(LATER, id=1, name="a", note="n")],
        [message(OTHER, id=1, name="a")],
        [framed(OURS, b"\x02")],
        [b"\x00"],
    ],
    ids=["another writer", "two writers", "another table's", "cut off", "no frame"],
)
def test_what_only_the_general_road_knows_is_left_to_it(begun: Lab, messages: list[Any]) -> None:
    instant, before = begun.writers[0].table.position, begun.stored().count()
    assert begun.append(*messages, first=50) is None
    assert (begun.writers[0].table.position, begun.stored().count()) == (instant, before)


def test_nothing_has_arrived(begun: Lab) -> None:
    assert begun.append() == {}


def test_a_table_service_that_plans_is_not_waited_for(begun: Lab) -> None:
    with begun.writers[0].table.lock:
        assert begun.append(ours(1, "z"), first=60) == {}
    assert begun.append(ours(1, "z"), first=60) == {"0": 61}


def test_a_new_generation_of_the_connector_is_left_to_the_general_road(spark: SparkSession, tmp_path: Path) -> None:
    """It has to be remembered, and messages of the former one may be stale (ADR 23)."""
    lab = Lab(spark, tmp_path)
    lab.write(message(RUN, id=1, name="a", __run=1000))
    assert lab.append(message(RUN, id=1, name="b", __run=1000), first=1) == {"0": 2}
    assert lab.append(message(RUN, id=1, name="c", __run=2000), first=2) is None
    lab.write(message(RUN, id=1, name="c", __run=2000), first=2)
    assert lab.append(message(RUN, id=1, name="d", __run=2000), first=3) == {"0": 4}
    assert lab.append(message(RUN, id=1, name="old", __run=1000), first=4) is None, "a stale one"
    lab.write(message(RUN, id=1, name="old", __run=1000), first=4)
    assert lab.rows() == {1: "d"}


def test_a_value_that_was_left_out_is_left_to_the_general_road(spark: SparkSession, tmp_path: Path) -> None:
    lab = Lab(spark, tmp_path)
    whole = {"id": "1", "price": "2.50", "__unavailable": None, "__moved_from": None}
    lab.write(message(LARGE, **whole))
    assert lab.append(message(LARGE, **{**whole, "price": "3.50"}), first=1) == {"0": 2}
    assert lab.append(message(LARGE, **{**whole, "__unavailable": ["price"]}), first=2) is None
    assert lab.append(message(LARGE, **{**whole, "__moved_from": {"id": "7"}}), first=2) is None


def test_of_two_jobs_the_second_one_writes_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """Without its look at the claim before each batch (TableWriter), the second one commits below the first one."""
    lab = Lab(spark, tmp_path)
    lab.write(ours(1, "a"))
    path, writer = lab.table.targets[0].path, lab.writers[0]
    first, second = (Leases(spark, holder, lambda reason: None) for holder in ("first", "second"))
    first.take(path)
    with pytest.raises(Held, match="is written by first"):
        second.take(path)
    writer.may_write = partial(second.check, path)
    with pytest.raises(Lost):
        lab.append(ours(1, "ghost"), first=1)
    writer.may_write = partial(first.check, path)
    assert lab.rows() == {1: "a"}
    assert lab.append(ours(1, "b"), first=1) == {"0": 2}
    assert lab.rows() == {1: "b"}
    first.release_all()
    second.release_all()
