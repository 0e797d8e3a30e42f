"""Archives by day and by columns, and in Parquet and JSON: names, contents, replays and gaps."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.archive.files import faults, files_of, reached
from spark_jobs.archive.form import form_of
from spark_jobs.archive.placing import LostColumn
from spark_jobs.archive.writer import BronzeGap, BronzeTopic
from spark_jobs.kafka.admin import Topic
from spark_jobs.runtime.status import Progress
from tests.source_table import table
from tests.spark.test_bronze import TOPIC, KnownSchemas, frame, messages_of


def archive(spark: SparkSession, folder: Path, bronze: dict[str, Any]) -> BronzeTopic:
    schemas: Any = KnownSchemas()
    lab = replace(table(), bronze=bronze)
    return BronzeTopic(spark, lab, folder.as_uri(), schemas, 10, lambda: Topic("first", 1))


def batch(spark: SparkSession, offsets: Iterable[int], note: Any = "n", days: str = "2026-11-28") -> DataFrame:
    """Messages whose note is by the offset; the second half is of the next day if days is 'turn'."""
    given = list(offsets)
    notes = {offset: note(offset) if callable(note) else note for offset in given}
    found = messages_of(spark, [(0, offset, frame(2, {"id": offset, "note": notes[offset]})) for offset in given])
    turn = F.expr(f"if(offset < {given[len(given) // 2]}, '2026-11-28 23:59:59', '2026-11-29 00:00:00')")
    moment = turn if days == "turn" else F.lit(days)
    return found.withColumn("timestamp", moment.cast("timestamp"))


def files(spark: SparkSession, folder: Path, format: str) -> dict[str, list[int]]:
    """Offsets by file, read by Spark's own reader of the format."""
    root = folder / "topics" / TOPIC
    found = {}
    for path in sorted(one for one in root.rglob("*") if one.is_file() and not one.name.startswith(".")):
        rows = spark.read.format(format).load(str(path)).orderBy("__offset").collect()
        found[str(path.relative_to(root))] = [row["__offset"] for row in rows]
    return found


def assert_whole(spark: SparkSession, folder: Path, bronze: dict[str, Any], end: int) -> None:
    form = form_of(replace(table(), bronze=bronze))
    found = files_of(spark, folder.as_uri(), TOPIC, form)
    assert (sum(file.rows for file in found), faults(found, {0: 0})) == (end, [])
    assert reached(spark, folder.as_uri(), TOPIC, form) == {"0": end}


def test_by_day_in_utc(spark: SparkSession, tmp_path: Path) -> None:
    form = {"by": "day"}
    for _ in range(2):  # a replay overwrites the same files
        archive(spark, tmp_path, form).write(batch(spark, range(4), days="turn"), Progress())
        assert files(spark, tmp_path, "avro") == {
            f"year=2026/month=11/day=28/{TOPIC}+0+0000000000.avro": [0, 1],
            f"year=2026/month=11/day=29/{TOPIC}+0+0000000002.avro": [2, 3],
        }
    assert_whole(spark, tmp_path, form, 4)


def test_by_columns_a_file_holds_the_messages_of_one_value(spark: SparkSession, tmp_path: Path) -> None:
    form = {"by": ["note"], "max_records": 2}
    messages = batch(spark, range(6), note=lambda offset: None if offset == 5 else "a/b" if offset % 2 else "x")
    for _ in range(2):
        archive(spark, tmp_path, form).write(messages, Progress())
        assert files(spark, tmp_path, "avro") == {
            f"note=__HIVE_DEFAULT_PARTITION__/{TOPIC}+0+0000000005.avro": [5],
            f"note=a%2Fb/{TOPIC}+0+0000000001.avro": [1, 3],
            f"note=x/{TOPIC}+0+0000000000.avro": [0, 2],
            f"note=x/{TOPIC}+0+0000000004.avro": [4],
        }
    assert_whole(spark, tmp_path, form, 6)
    archive(spark, tmp_path, form).write(batch(spark, [6, 7]), Progress())
    assert_whole(spark, tmp_path, form, 8)


def test_a_file_by_columns_that_is_gone_is_told(spark: SparkSession, tmp_path: Path) -> None:
    form = {"by": ["note"]}
    messages = batch(spark, range(4), note=lambda offset: "a" if offset in (1, 2) else "b")
    archive(spark, tmp_path, form).write(messages, Progress())
    next(tmp_path.rglob("note=a/*.avro")).unlink()
    found = files_of(spark, tmp_path.as_uri(), TOPIC, form_of(replace(table(), bronze=form)))
    assert faults(found, {0: 0}) == [f"partition 0, file from 0: offset {offset} is missing" for offset in (1, 2)]


@pytest.mark.parametrize(("format", "suffix"), [("parquet", ".gz.parquet"), ("json", ".json")])
def test_other_formats(spark: SparkSession, tmp_path: Path, format: str, suffix: str) -> None:
    form = {"format": format}
    archive(spark, tmp_path, form).write(batch(spark, range(2)), Progress())
    archive(spark, tmp_path, form).write(batch(spark, range(3)), Progress())  # a lost checkpoint
    assert files(spark, tmp_path, format) == {
        f"partition=0/{TOPIC}+0+0000000000{suffix}": [0, 1],
        f"partition=0/{TOPIC}+0+0000000002{suffix}": [2],
    }
    row = spark.read.format(format).load(str(tmp_path / "topics" / TOPIC)).where("id = 2").first()
    assert row is not None
    assert (row["note"], row["__op"], row["__lsn"]) == ("n", "c", 102)
    assert_whole(spark, tmp_path, form, 3)


def test_what_can_not_be_decoded_is_kept_beside_any_form(spark: SparkSession, tmp_path: Path) -> None:
    form = {"by": ["note"], "format": "json"}
    bad = messages_of(spark, [(0, 2, b"rubbish")]).withColumn("timestamp", F.current_timestamp())
    archive(spark, tmp_path, form).write(batch(spark, range(2)).unionByName(bad), Progress())
    assert list(files(spark, tmp_path, "json").values()) == [[0, 1]]
    (raw,) = (tmp_path / "raw" / TOPIC).rglob("*.avro")
    assert raw.parent.name == "partition=0"
    assert_whole(spark, tmp_path, form, 3)


def test_a_gap_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    archive(spark, tmp_path, {"by": "day"}).write(batch(spark, [0, 1]), Progress())
    with pytest.raises(BronzeGap, match="offsets 2 to 4 are missing"):
        archive(spark, tmp_path, {"by": "day"}).write(batch(spark, [5, 6]), Progress())


def test_a_column_that_was_dropped_stops_the_archive(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(LostColumn, match="by other, which the table has no more"):
        archive(spark, tmp_path, {"by": ["other"]}).write(batch(spark, [0]), Progress())
