"""Archive files made of the bytes of the messages: they hold what Spark's writer would have written."""

from pathlib import Path
from typing import Any

import fastavro
import pytest
from pyspark.sql import SparkSession

from spark_jobs.archive.datum_files import NEVER, DatumFiles
from spark_jobs.archive.writer import BronzeGap
from spark_jobs.hudi.appender import NotPlain
from spark_jobs.runtime.jvm import java
from spark_jobs.runtime.status import Progress
from tests.spark.test_bronze import TOPIC, archive, batch, contents, frame

Messages = list[tuple[int, int, bytes | None]]  # partition, offset, value


def messages(writer: int, *offsets: int, partition: int = 0) -> Messages:
    return [(partition, offset, frame(writer, {"id": offset % 1000, "note": f"é {offset}"})) for offset in offsets]


class Files:
    """Those of a new archive in a folder."""

    def __init__(self, spark: SparkSession, folder: Path, most: int = 3) -> None:
        self.spark = spark
        self.archive = archive(spark, folder, max_records=most)
        self.archive.resume()
        self.files = DatumFiles(spark, self.archive.table, self.archive.registry, most, self.save)

    def save(self, *given: Any) -> None:
        self.archive.publish(*given, Progress())

    def take(self, given: Messages) -> dict[str, int]:
        record = java(self.spark, "org.apache.kafka.clients.consumer.ConsumerRecord")
        found = java(self.spark, "java.util.ArrayList")()
        for partition, offset, value in given:
            found.add(record(TOPIC, partition, offset, None, None if value is None else bytearray(value)))
        return self.files.take(found)


def records(spark: SparkSession, folder: Path) -> dict[str, list[dict[str, Any]]]:
    """What the files hold, by name."""
    read = spark.read.format("avro")
    return {path.name: [row.asDict() for row in read.load(str(path)).collect()] for path in files_below(folder)}


def fields(folder: Path) -> list[Any]:
    """Of the schema of each file, as its head says."""
    return [fastavro.reader(path.open("rb")).writer_schema["fields"] for path in files_below(folder)]  # type: ignore


def files_below(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.avro"), key=lambda path: path.name)


def test_files_are_those_of_sparks_writer(spark: SparkSession, tmp_path: Path) -> None:
    made = Files(spark, tmp_path / "datums")
    made.take([*messages(1, 0, 1, 2, 3), *messages(2, 4, 5)])
    made.files.save_begun_by(NEVER)
    theirs = archive(spark, tmp_path / "spark", max_records=3)
    theirs.write(batch(spark, [(1, range(3))]).unionByName(batch(spark, [(1, [3]), (2, [4, 5])])), Progress())
    assert contents(spark, tmp_path / "datums") == contents(spark, tmp_path / "spark")
    ours = records(spark, tmp_path / "datums")
    assert list(ours) == [f"{TOPIC}+0+{start:010d}.avro" for start in (0, 3, 4)]
    assert [row["note"] for row in ours[f"{TOPIC}+0+0000000004.avro"]] == ["é 4", "é 5"]
    assert [row["__offset"] for rows in ours.values() for row in rows] == [0, 1, 2, 3, 4, 5]
    schemas = [
        fastavro.reader(path.open("rb")).writer_schema
        for name in ("datums", "spark")
        for path in files_below(tmp_path / name)
    ]
    assert [one["fields"] for one in schemas[:3]] == [one["fields"] for one in schemas[3:]]


def test_a_file_waits_until_it_is_full_or_old(spark: SparkSession, tmp_path: Path) -> None:
    made = Files(spark, tmp_path)
    assert made.take(messages(1, 0, 1)) == {"0": 2}
    assert made.take(messages(1, 2, 3)) == {"0": 4}
    assert list(records(spark, tmp_path)) == [f"{TOPIC}+0+0000000000.avro"]
    begun = made.files.oldest()
    made.files.save_begun_by(begun - 1)
    assert made.archive.reached == {0: 3}
    made.files.save_begun_by(begun)
    assert (made.archive.reached, made.files.oldest()) == ({0: 4}, NEVER)


@pytest.mark.parametrize("following", [(1, 3), (2, 3), (2, 2)], ids=["full", "full, another writer", "another writer"])
def test_a_batch_may_begin_with_a_message_of_the_next_file(
    spark: SparkSession, tmp_path: Path, following: tuple[int, int]
) -> None:
    writer, offset = following
    made = Files(spark, tmp_path)
    assert made.take(messages(1, *range(offset))) == {"0": offset}
    assert made.take(messages(writer, offset, offset + 1)) == {"0": offset + 2}
    made.files.save_begun_by(NEVER)
    assert [[row["__offset"] for row in rows] for rows in records(spark, tmp_path).values()] == [
        [*range(offset)],
        [offset, offset + 1],
    ]


def test_partitions_have_files_of_their_own(spark: SparkSession, tmp_path: Path) -> None:
    made = Files(spark, tmp_path)
    assert made.take([*messages(1, 7), *messages(1, 2**40, partition=1)]) == {"0": 8, "1": 2**40 + 1}
    made.files.save_begun_by(NEVER)
    assert [rows[0]["__offset"] for rows in records(spark, tmp_path).values()] == [7, 2**40]


BROKEN = {
    "no frame": b"\1\0\0\0\1",
    "a tombstone": None,
    "cut off": frame(1, {"id": 1})[:-3],
    "too long": frame(1, {"id": 1}) + b"\0",
    "an unknown branch": frame(2, {"id": 1, "note": None})[:-1] + b"\6",
}


@pytest.mark.parametrize("fault", BROKEN)
def test_what_cant_be_decoded_is_left_to_spark(spark: SparkSession, tmp_path: Path, fault: str) -> None:
    """What came before it is archived, and nothing of it."""
    made = Files(spark, tmp_path)
    with pytest.raises(NotPlain):
        made.take([*messages(1, 0), (0, 1, BROKEN[fault]), *messages(1, 2)])
    made.files.save_begun_by(NEVER)
    assert made.archive.reached == {0: 1}
    assert [row["__offset"] for rows in records(spark, tmp_path).values() for row in rows] == [0]


def test_a_gap_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    made = Files(spark, tmp_path)
    made.take(messages(1, 0))
    made.files.save_begun_by(NEVER)
    made.take(messages(1, 2))
    with pytest.raises(BronzeGap, match="offsets 1 to 1 are missing"):
        made.files.save_begun_by(NEVER)


def test_no_file_is_replaced(spark: SparkSession, tmp_path: Path) -> None:
    """A second job that has not noticed the first one yet."""
    first, second = (Files(spark, tmp_path) for _ in range(2))
    for one, offsets in ((first, (0, 1)), (second, (0,))):
        one.take(messages(1, *offsets))
    first.files.save_begun_by(NEVER)
    with pytest.raises(Exception, match="already exists"):
        second.files.save_begun_by(NEVER)
    assert [row["__offset"] for rows in records(spark, tmp_path).values() for row in rows] == [0, 1]
