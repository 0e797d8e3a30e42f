"""Keys are equal when PostgreSQL stores the same value, on both roads of a batch."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.poisoned import BYTES, REAL, WORD, WORDS, message
from tests.spark.hudi_lab import Lab

pytestmark = pytest.mark.usefixtures("no_metastore")
# Each of them is another key in PostgreSQL, or the same key after a change that Debezium sends as delete and create.
KEYS = {
    REAL: [0.0, -0.0, 1.5, float("inf"), float("nan")],
    WORD: ["", " ", "__null__", "__empty__", "a,b", "a:b", "NULL"],
    BYTES: [b"", b"\x00", b"\xff", b"\xfe", b"a"],
    WORDS: [[], [""], ["a, b"], ["a", "b"], [None], ["null"]],
}


def row(writer: int, key: Any, name: str, **more: Any) -> bytes:
    return message(writer, id=key, name=name, **more)


def left(lab: Lab) -> list[tuple[str, str]]:
    found = lab.stored().where("__deleted = 'false'").collect()
    return sorted((repr(one["id"]), one["name"]) for one in found)


@pytest.mark.parametrize("writer", KEYS)
def test_each_key_is_one_row(spark: SparkSession, tmp_path: Path, writer: int) -> None:
    lab, keys = Lab(spark, tmp_path), KEYS[writer]
    lab.write(*(row(writer, key, "general") for key in keys), row(writer, keys[0], "late"))
    names = ["late", *["general"] * (len(keys) - 1)]
    assert sorted(one["name"] for one in lab.stored().collect()) == sorted(names)
    assert lab.append(*(row(writer, key, "plain") for key in keys), first=20) == {"0": 20 + len(keys)}
    found = lab.stored().collect()
    assert [one["name"] for one in found] == ["plain"] * len(keys)
    assert len({one["_hoodie_record_key"] for one in found}) == len(keys)


@pytest.mark.parametrize("plain", [False, True])
def test_a_zero_becomes_negative(spark: SparkSession, tmp_path: Path, plain: bool) -> None:
    lab = Lab(spark, tmp_path)
    lab.write(row(REAL, 0.0, "a"), row(REAL, 1.0, "b"))
    gone = row(REAL, 0.0, "a", __op="d", __deleted="true", __source_ts_ms=2)
    change = [gone, row(REAL, -0.0, "a", __op="c", __source_ts_ms=2)]
    if plain:
        assert lab.append(*change, first=2) == {"0": 4}
    else:
        lab.write(*change, first=2)
    assert left(lab) == [("-0.0", "a"), ("1.0", "b")]


def told(place: int, op: str, key: float, name: str, ms: int = 2) -> bytes:
    gone = "true" if op == "d" else "false"
    return row(REAL, key, name, __op=op, __deleted=gone, __source_ts_ms=ms, __lsn=10 + place)


SWAP = [told(0, "d", 1, "a"), told(1, "c", 2, "a"), told(2, "d", 2, "b"), told(3, "c", 1, "b")]
SHIFT = [told(0, "d", 1, "a"), told(1, "c", 2, "a"), told(2, "d", 2, "b"), told(3, "c", 3, "b")]
PASSED = [told(0, "d", 1, "a"), told(1, "c", 2, "a"), told(2, "d", 2, "a"), told(3, "c", 3, "a")]


@pytest.mark.parametrize("types", [("mor",), ("cow",)])
@pytest.mark.parametrize("cut", [None, 1, 2, 3])
@pytest.mark.parametrize(
    ("change", "right"),
    [(SWAP, [("1.0", "b"), ("2.0", "a")]), (SHIFT, [("2.0", "a"), ("3.0", "b")])],
    ids=["swap", "shift"],
)
def test_keys_held_twice_within_a_transaction(
    spark: SparkSession, tmp_path: Path, change: list[bytes], right: Any, cut: int | None, types: tuple[str]
) -> None:
    """Also where a batch ends within it, by the road that takes it."""
    lab = Lab(spark, tmp_path, types=types)
    lab.write(told(0, "c", 1, "a", ms=1), told(1, "c", 2, "b", ms=1))
    for begin, end in [(0, cut), (cut, 4)] if cut else [(0, 4)]:
        part = change[begin:end]
        if types == ("cow",) or lab.append(*part, first=2 + begin) is None:
            lab.write(*part, first=2 + begin)
    assert left(lab) == right


def test_a_row_that_passed_by_leaves_the_other_one(spark: SparkSession, tmp_path: Path) -> None:
    lab = Lab(spark, tmp_path)
    lab.write(told(0, "c", 1, "a", ms=1), told(1, "c", 2, "b", ms=1))
    assert lab.append(*PASSED, first=2) is None
    lab.write(*PASSED, first=2)
    assert left(lab) == [("2.0", "b"), ("3.0", "a")]


def test_a_table_keeps_the_texts_of_its_keys(spark: SparkSession, tmp_path: Path, monkeypatch: Any) -> None:
    """As they were before there were own ones: another text would be another row."""
    with monkeypatch.context() as before:
        before.setattr("spark_jobs.hudi.record_keys.own", lambda generator: generator)
        lab = Lab(spark, tmp_path)
        lab.write(row(BYTES, b"a", "old"))
    lab = Lab(spark, tmp_path)
    lab.write(row(BYTES, b"a", "new"), first=1)
    assert [one["name"] for one in lab.stored().collect()] == ["new"]
