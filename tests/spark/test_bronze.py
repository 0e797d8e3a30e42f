"""The archive: names that a replay repeats, one writer schema per file, and no gap."""

import io
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import fastavro
import pytest
from pyspark.sql import DataFrame, SparkSession

from spark_jobs.archive.files import begins, faults, files_of, named, reached
from spark_jobs.archive.placing import FILE, framed, with_file
from spark_jobs.archive.writer import BronzeGap, BronzeTopic, offset_ranges
from spark_jobs.hudi.source_offsets import TopicChanged
from spark_jobs.kafka.admin import Topic
from spark_jobs.runtime.pipeline import Table
from spark_jobs.runtime.status import Progress

TOPIC = "lab.public.t"
ADDED: list[dict[str, Any]] = [{"name": name, "type": "string"} for name in ("__op", "__deleted")]
ADDED += [{"name": name, "type": "long"} for name in ("__lsn", "__source_ts_ms")]
OLD = {"type": "record", "name": "Value", "namespace": TOPIC, "fields": [{"name": "id", "type": "int"}, *ADDED]}
NEW = {**OLD, "fields": [*OLD["fields"], {"name": "note", "type": ["null", "string"]}]}  # type: ignore[misc]
WRITERS = {1: OLD, 2: NEW}


class KnownSchemas:
    def schema(self, schema_id: int) -> dict[str, Any]:
        return WRITERS[schema_id]


def frame(schema_id: int, row: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    full = {"__op": "c", "__deleted": "false", "__lsn": 100 + row["id"], "__source_ts_ms": 1, **row}
    fastavro.schemaless_writer(out, fastavro.parse_schema(WRITERS[schema_id]), full)
    return struct.pack(">bI", 0, schema_id) + out.getvalue()


def batch(spark: SparkSession, runs: Iterable[tuple[int, Iterable[int]]], partition: int = 0) -> DataFrame:
    """Messages of each run's writer at its offsets; the row's id is the offset."""
    messages = [
        (partition, offset, frame(writer, {"id": offset, "note": "n"}))
        for writer, offsets in runs
        for offset in offsets
    ]
    return messages_of(spark, messages)


def messages_of(spark: SparkSession, messages: list[tuple[int, int, bytes]]) -> DataFrame:
    rows = [(partition, offset, b"key", value) for partition, offset, value in messages]
    return spark.createDataFrame(rows, "partition int, offset long, key binary, value binary")


def offsets_by_file(files: DataFrame) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for row in sorted(files.collect(), key=lambda row: row["offset"]):
        found.setdefault(row[FILE], []).append(row["offset"])
    return found


def test_a_file_has_the_name_of_its_first_offset_and_a_limit(spark: SparkSession) -> None:
    files = with_file(framed(batch(spark, [(1, range(100, 107))], partition=2)), max_records=3)
    assert offsets_by_file(files) == {
        "2+0000000100": [100, 101, 102],
        "2+0000000103": [103, 104, 105],
        "2+0000000106": [106],
    }


def test_offsets_may_have_more_than_ten_digits(spark: SparkSession, tmp_path: Path) -> None:
    """A name that is cut would be another file's, which a rename replaces."""
    late = 12_345_678_901
    files = with_file(framed(batch(spark, [(1, [late])])), max_records=10)
    assert offsets_by_file(files) == {f"0+{late}": [late]}
    assert named(f"{TOPIC}+0+{late}.avro") == (0, late)
    for first in (9_999_999_999, 10_000_000_000):  # the second name comes first as a text
        archive(spark, tmp_path).write(batch(spark, [(1, [first])]), Progress())
    assert reached(spark, tmp_path.as_uri(), TOPIC) == {"0": 10_000_000_001}


def test_oldest_files_that_are_gone_are_told(spark: SparkSession, tmp_path: Path) -> None:
    """Also when Kafka has forgotten the messages: the archive knows what it began with."""
    for offsets in ([3, 4], [5, 6]):
        archive(spark, tmp_path).write(batch(spark, [(1, offsets)]), Progress())
    assert begins(spark, tmp_path.as_uri(), TOPIC) == {0: 3}
    (first, _) = sorted(tmp_path.rglob("*.avro"))
    first.unlink()
    expected = {0: 6} | begins(spark, tmp_path.as_uri(), TOPIC)
    assert faults(files_of(spark, tmp_path.as_uri(), TOPIC), expected) == ["partition 0: offsets 3 to 4 are missing"]


def test_a_topic_that_got_partitions_is_not_archived_on(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(TopicChanged, match="has 3 partitions, not 1"):
        archive(spark, tmp_path, partitions=3).write(batch(spark, [(1, [0])]), Progress())
    assert contents(spark, tmp_path) == {}


def test_a_new_writer_begins_a_new_file(spark: SparkSession) -> None:
    files = with_file(framed(batch(spark, [(1, [0, 1]), (2, [2]), (1, [3, 4])])), max_records=10)
    assert offsets_by_file(files) == {"0+0000000000": [0, 1], "0+0000000002": [2], "0+0000000003": [3, 4]}
    assert {(row["id"], row["first"], row["last"]) for row in offset_ranges(files)} == {(1, 0, 4), (2, 2, 2)}


def test_partitions_are_counted_apart(spark: SparkSession) -> None:
    both = batch(spark, [(1, [5, 6])]).unionByName(batch(spark, [(1, [6, 7])], partition=1))
    assert offsets_by_file(with_file(framed(both), max_records=10)) == {"0+0000000005": [5, 6], "1+0000000006": [6, 7]}


def test_a_message_without_a_frame_is_not_lost_among_others(spark: SparkSession) -> None:
    empty = messages_of(spark, [(0, 1, b"")])
    files = with_file(framed(batch(spark, [(1, [0]), (1, [2])]).unionByName(empty)), max_records=10)
    assert offsets_by_file(files) == {"0+0000000000": [0], "0+0000000001": [1], "0+0000000002": [2]}


def archive(
    spark: SparkSession, folder: Path, max_records: int = 2, topic_id: str = "first", partitions: int = 1
) -> BronzeTopic:
    """topic_id and partitions: of what Kafka has now."""
    lab = Table("lab", "public", "t", TOPIC, 0, ("id",), None, "soft", "full", ())
    schemas: Any = KnownSchemas()
    return BronzeTopic(spark, lab, folder.as_uri(), schemas, max_records, lambda: Topic(topic_id, partitions))


def contents(spark: SparkSession, folder: Path) -> dict[str, list[tuple[int, int]]]:
    """(id, __offset) of each row by file."""
    root = folder / "topics" / TOPIC
    found = {}
    for path in sorted(root.rglob("*.avro")):
        rows = spark.read.format("avro").load(str(path)).collect()
        found[str(path.relative_to(root))] = [(row["id"], row["__offset"]) for row in rows]
    return found


def test_files_on_disk_and_a_replay(spark: SparkSession, tmp_path: Path) -> None:
    messages = batch(spark, [(1, [0, 1, 2]), (2, [3])])
    expected = {
        f"partition=0/{TOPIC}+0+0000000000.avro": [(0, 0), (1, 1)],
        f"partition=0/{TOPIC}+0+0000000002.avro": [(2, 2)],
        f"partition=0/{TOPIC}+0+0000000003.avro": [(3, 3)],
    }
    archive(spark, tmp_path).write(messages, Progress())
    assert contents(spark, tmp_path) == expected
    archive(spark, tmp_path).write(messages, Progress())
    assert contents(spark, tmp_path) == expected
    assert not (tmp_path / "_scratch" / TOPIC).exists()


def test_a_lost_checkpoint_leaves_the_files_as_they_were_cut(spark: SparkSession, tmp_path: Path) -> None:
    early = batch(spark, [(1, [0]), (2, [1, 2, 3])])
    for part in (early.where("offset < 3"), early.where("offset = 3")):
        archive(spark, tmp_path).write(part, Progress())
    before = contents(spark, tmp_path)
    whole = batch(spark, [(1, [0]), (2, [1, 2, 3, 4, 5])])
    archive(spark, tmp_path).write(whole, Progress())
    added = {f"partition=0/{TOPIC}+0+0000000004.avro": [(4, 4), (5, 5)]}
    assert contents(spark, tmp_path) == {**before, **added}
    assert faults(files_of(spark, tmp_path.as_uri(), TOPIC), {0: 0}) == []


def test_a_topic_that_was_made_anew_is_not_mixed_with_the_old_one(spark: SparkSession, tmp_path: Path) -> None:
    archive(spark, tmp_path).write(batch(spark, [(1, [0, 1, 2])]), Progress())
    before = contents(spark, tmp_path)
    for offsets in ([3, 4], [0, 1], range(5)):
        with pytest.raises(BronzeGap, match="deleted and re-created"):
            archive(spark, tmp_path, topic_id="second").write(batch(spark, [(1, offsets)]), Progress())
    assert contents(spark, tmp_path) == before
    archive(spark, tmp_path, topic_id="").write(batch(spark, [(1, [3])]), Progress())  # nobody knows
    (tmp_path / "topics").rename(tmp_path / "former")
    archive(spark, tmp_path, topic_id="second").write(batch(spark, [(1, [0, 1])]), Progress())
    with pytest.raises(BronzeGap, match="deleted and re-created"):
        archive(spark, tmp_path).write(batch(spark, [(1, [2])]), Progress())


def test_an_archive_without_an_id_takes_that_of_its_topic(spark: SparkSession, tmp_path: Path) -> None:
    archive(spark, tmp_path, topic_id="").write(batch(spark, [(1, [0])]), Progress())
    archive(spark, tmp_path).write(batch(spark, [(1, [1])]), Progress())
    with pytest.raises(BronzeGap, match="deleted and re-created"):
        archive(spark, tmp_path, topic_id="second").write(batch(spark, [(1, [2])]), Progress())


def test_files_appear_in_the_order_of_their_offsets(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published: list[str] = []
    monkeypatch.setattr("spark_jobs.runtime.storage.rename", lambda _, source, target: published.append(target[-9:-5]))
    archive(spark, tmp_path).write(batch(spark, [(2, [0]), (1, [1]), (2, [2])]), Progress())
    assert published == ["0000", "0001", "0002"]


def test_each_file_says_its_own_schema(spark: SparkSession, tmp_path: Path) -> None:
    archive(spark, tmp_path).write(batch(spark, [(1, [0]), (2, [1])]), Progress())
    fields = {}
    for path in sorted(tmp_path.rglob("*.avro")):
        with path.open("rb") as file:
            schema: Any = fastavro.reader(file).writer_schema
        fields[path.stem[-1]] = [field["name"] for field in schema["fields"]]
    ours = ["id", *(field["name"] for field in ADDED)]
    assert fields == {"0": [*ours, "__offset"], "1": [*ours, "note", "__offset"]}


def test_what_can_not_be_decoded_is_archived_as_it_came(spark: SparkSession, tmp_path: Path) -> None:
    good = {offset: frame(1, {"id": offset}) for offset in (0, 1, 4)}
    mixed = messages_of(spark, [(0, offset, good.get(offset, b"rubbish")) for offset in range(5)])
    for _ in range(2):  # a replay changes nothing here, either
        topic = archive(spark, tmp_path, max_records=10)
        topic.write(mixed, Progress())
        assert list(contents(spark, tmp_path)) == [
            f"partition=0/{TOPIC}+0+0000000000.avro",
            f"partition=0/{TOPIC}+0+0000000004.avro",
        ]
        raw = list((tmp_path / "raw" / TOPIC).rglob("*.avro"))
        assert [path.name for path in raw] == [f"{TOPIC}+0+0000000002.avro"]
        rows = spark.read.format("avro").load(str(raw[0])).orderBy("__offset").collect()
        assert [(bytes(row.key), bytes(row.value), row["__offset"]) for row in rows] == [
            (b"key", b"rubbish", 2),
            (b"key", b"rubbish", 3),
        ]
    files = files_of(spark, tmp_path.as_uri(), TOPIC)
    assert sum(file.rows for file in files) == 5 and faults(files, {0: 0}) == []
    assert reached(spark, tmp_path.as_uri(), TOPIC) == {"0": 5}
    with pytest.raises(BronzeGap):
        topic.write(messages_of(spark, [(0, 7, b"rubbish")]), Progress())


def test_a_gap_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    topic = archive(spark, tmp_path)
    topic.write(batch(spark, [(1, [0, 1])]), Progress())
    with pytest.raises(BronzeGap, match=rf"{TOPIC} partition 0: offsets 2 to 4 are missing"):
        topic.write(batch(spark, [(1, [5, 6])]), Progress())
    assert list(contents(spark, tmp_path)) == [f"partition=0/{TOPIC}+0+0000000000.avro"]
    topic.write(batch(spark, [(1, [1, 2])]), Progress())  # what is repeated is no gap
