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
    gone = row(REAL, 0.0, "a", __op="d", __deleted="true")
    change = [gone, row(REAL, -0.0, "a", __op="c")]
    if plain:
        assert lab.append(*change, first=2) == {"0": 4}
    else:
        lab.write(*change, first=2)
    assert left(lab) == [("-0.0", "a"), ("1.0", "b")]


def test_a_table_keeps_the_texts_of_its_keys(spark: SparkSession, tmp_path: Path, monkeypatch: Any) -> None:
    """As they were before there were own ones: another text would be another row."""
    with monkeypatch.context() as before:
        before.setattr("spark_jobs.hudi.record_keys.own", lambda generator: generator)
        lab = Lab(spark, tmp_path)
        lab.write(row(BYTES, b"a", "old"))
    lab = Lab(spark, tmp_path)
    lab.write(row(BYTES, b"a", "new"), first=1)
    assert [one["name"] for one in lab.stored().collect()] == ["new"]
