"""Silver before the write: batches of several writers, keys that can't collide, deletes that erase."""

import io
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import fastavro
import pytest
from pyspark.sql import DataFrame, SparkSession

from spark_jobs.events import decode
from spark_jobs.events.schema_evolution import SchemaRefused
from spark_jobs.hudi.source_offsets import TopicChanged, committed_ms, following
from spark_jobs.hudi.table import Oversized, SilverTable, erase_deleted, ids_of, with_record_key
from spark_jobs.kafka.admin import Topic
from spark_jobs.runtime.pipeline import Table, Target
from spark_jobs.runtime.status import Progress

COLUMNS = (
    "id int, region string, name string, _secret string, __op string, __lsn bigint, __deleted string, _order bigint"
)
LIVE = (1, "north", "Ada", "s1", "u", 10, "false", 7)
GONE = (2, "south", "Bob", "s2", "d", 11, "true", 8)


def table(
    keys: tuple[str, ...] = ("id",), delete: str = "soft", partition: Any = None, identity: str = "full"
) -> Table:
    return Table(
        database="lab",
        schema="public",
        table="t",
        topic="lab.public.t",
        epoch=0,
        keys=keys,
        partition=partition,
        delete=delete,
        replica_identity=identity,
        targets=(),
    )


def test_soft_delete_keeps_the_data(spark: SparkSession) -> None:
    rows = spark.createDataFrame([LIVE, GONE], COLUMNS)
    assert [tuple(row) for row in erase_deleted(rows, table()).collect()] == [LIVE, GONE]


def test_hard_delete_erases_the_data_and_keeps_the_tombstone(spark: SparkSession) -> None:
    rows = erase_deleted(spark.createDataFrame([LIVE, GONE], COLUMNS), table(delete="hard", partition="region"))
    assert rows.columns == [column.split()[0] for column in COLUMNS.split(", ")]
    assert [tuple(row) for row in rows.collect()] == [LIVE, (2, "south", None, None, "d", 11, "true", 8)]


@pytest.mark.parametrize("delete", ["soft", "hard"])
def test_what_a_delete_under_identity_default_brings_is_invented(spark: SparkSession, delete: str) -> None:
    lab = table(delete=delete, partition="region", identity="default")
    rows = erase_deleted(spark.createDataFrame([LIVE, (2, "", "", "", "d", 11, "true", 8)], COLUMNS), lab)
    assert [tuple(row) for row in rows.collect()] == [LIVE, (2, None, None, None, "d", 11, "true", 8)]


# Each pair would be one key if the values were joined with ',' and named with ':', as Hudi does.
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a,k2:b", "c"), ("a", "b,k2:c")),
        (('a","b', "c"), ("a", 'b","c')),
        (("a\\", "b"), ("a", "\\b")),
        (("", "a"), ("a", "")),
        (("é", "x"), ("e\u0301", "x")),
        (("1", "1"), ("11", "")),
        (("null", "a"), ('"null"', "a")),
    ],
)
def test_composite_keys_do_not_collide(spark: SparkSession, one: tuple[str, str], other: tuple[str, str]) -> None:
    rows = spark.createDataFrame([one, other], "k1 string, k2 string")
    keys = [row["_key"] for row in with_record_key(rows, table(("k1", "k2"))).collect()]
    assert keys[0] != keys[1]


def test_composite_key_is_an_array_in_the_order_of_the_definition(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(7, "ключ,:")], "n int, name string")
    assert [row["_key"] for row in with_record_key(rows, table(("name", "n"))).collect()] == ['["ключ,:","7"]']


def test_a_single_key_needs_no_column_of_its_own(spark: SparkSession) -> None:
    rows = spark.createDataFrame([LIVE], COLUMNS)
    assert with_record_key(rows, table()).columns == rows.columns


def test_what_is_said_of_a_batch() -> None:
    summary = [
        {"ids": [3, 9], "changes": 1, "committed_ms": [50, 60]},
        {"ids": [3], "changes": 4, "committed_ms": [10, 20]},
        {"ids": [4], "changes": 0, "committed_ms": None},
    ]
    assert ids_of(summary) == {3, 4, 9}
    assert committed_ms(summary) == [10, 20]
    assert committed_ms(summary[2:]) == []


def writer(*fields: tuple[str, Any]) -> dict[str, Any]:
    metadata = (("__op", "string"), ("__lsn", "long"), ("__source_ts_ms", "long"), ("__deleted", "string"))
    named = [{"name": name, "type": kind} for name, kind in (*fields, *metadata)]
    return {"type": "record", "name": "Value", "fields": named}


TEXT = ["null", "string"]
WRITERS = {
    3: writer(("id", "int"), ("name", TEXT)),
    5: writer(("id", "int"), ("note", TEXT), ("name", TEXT)),
    7: writer(("id", "int"), ("must", "int")),
    8: writer(("id", "int"), ("must", TEXT)),
    9: writer(("id", "int")),
    11: writer(("id", "long"), ("name", TEXT)),
    13: {**writer(("id", "int"), ("__run", ["null", "long"])), "namespace": "lab.public.t"},
}


class KnownSchemas:
    def schema(self, schema_id: int) -> dict[str, Any]:
        return WRITERS[schema_id]


def batch(spark: SparkSession, *rows: tuple[int, dict[str, Any]], first: int = 0) -> DataFrame:
    """Messages of partition 0 from offset `first`, each (writer, row)."""
    messages = []
    for place, (schema_id, row) in enumerate(rows):
        out = io.BytesIO()
        full = {"__op": "u", "__lsn": 1, "__source_ts_ms": 1, "__deleted": "false", **row}
        fastavro.schemaless_writer(out, fastavro.parse_schema(WRITERS[schema_id]), full)
        messages.append((0, first + place, struct.pack(">bI", 0, schema_id) + out.getvalue()))
    return spark.createDataFrame(messages, "partition int, offset long, value binary")


class Stored(SilverTable):
    """A table as its last commit left it."""

    def __init__(self, spark: SparkSession, folder: Path, columns: str = "", schema_id: int = 0, end: int = 0) -> None:
        target = Target("mor", folder.as_uri(), (), {"hoodie.datasource.hive_sync.database": "lab_mor"})
        super().__init__(spark, table(), target, KnownSchemas())  # type: ignore[arg-type]
        self._schemas = dict(WRITERS)
        if columns:
            self._columns = spark.createDataFrame([], columns).schema
            self._position = {"schema_id": schema_id, "epoch": 0, "offsets": {"0": end}}

    def fitted(self, messages: DataFrame) -> DataFrame:
        return self.rows(messages, decode.summary(messages, WRITERS))


def test_a_batch_of_too_many_bytes_is_refused_as_a_whole(spark: SparkSession, tmp_path: Path) -> None:
    messages = batch(spark, (3, {"id": 1, "name": "a" * 100}), (3, {"id": 2, "name": "b"}))
    with pytest.raises(Oversized, match=r"lab_mor\.t: a batch of 1\d\d bytes"):
        Stored(spark, tmp_path).write(messages, Progress(), limit=100)
    assert list(tmp_path.iterdir()) == []


def test_zombies_ahead_are_found_by_schemas_that_no_batch_had(spark: SparkSession, tmp_path: Path) -> None:
    """And a message that is not of this table, by 3, stays what it is: it is set aside later."""
    stored = Stored(spark, tmp_path)
    stored._schemas = {}
    ahead = batch(spark, *[(13, {"id": 1, "__run": run}) for run in (1, 9, 1)], (3, {"id": 1, "name": None}))
    assert sorted(row["offset"] for row in stored.fenced(ahead).collect()) == [0, 1, 3]


def test_one_batch_of_three_writers(spark: SparkSession, tmp_path: Path) -> None:
    messages = batch(
        spark,
        (3, {"id": 1, "name": "a"}),
        (9, {"id": 2}),
        (5, {"id": 3, "note": "m", "name": "c"}),
        (3, {"id": 4, "name": None}),
    )
    rows = Stored(spark, tmp_path).fitted(messages)
    assert {tuple(row) for row in rows.select("id", "name", "note", "_order").collect()} == {
        (1, "a", None, 0),
        (2, None, None, 1),
        (3, "c", "m", 2),
        (4, None, None, 3),
    }


def test_a_new_column_in_the_middle_of_a_batch_goes_last(spark: SparkSession, tmp_path: Path) -> None:
    stored = Stored(spark, tmp_path, "id int, name string, _order bigint, __deleted string", schema_id=3)
    rows = stored.fitted(batch(spark, (3, {"id": 1, "name": "a"}), (5, {"id": 3, "note": "m", "name": "c"})))
    assert rows.columns[:4] == ["id", "name", "_order", "__deleted"]
    assert {tuple(row) for row in rows.select("id", "name", "note").collect()} == {(1, "a", None), (3, "c", "m")}


def test_a_wider_writer_widens_the_batch(spark: SparkSession, tmp_path: Path) -> None:
    stored = Stored(spark, tmp_path, "id int, name string", schema_id=3)
    rows = stored.fitted(batch(spark, (3, {"id": 1, "name": "a"}), (11, {"id": 2**40, "name": "b"})))
    assert dict(rows.dtypes)["id"] == "bigint"
    assert {row["id"] for row in rows.collect()} == {1, 1099511627776}


def test_a_required_column_that_is_gone_from_one_writer_of_the_batch(spark: SparkSession, tmp_path: Path) -> None:
    stored = Stored(spark, tmp_path, "id int, must int", schema_id=7, end=10)
    mixed = batch(spark, (9, {"id": 1}), (7, {"id": 2, "must": 2}), first=10)
    with pytest.raises(SchemaRefused, match=r"lab_mor\.t: NOT NULL column must is gone"):
        stored.fitted(mixed)


def test_a_schema_that_comes_back_is_no_excuse(spark: SparkSession, tmp_path: Path) -> None:
    """NOT NULL column added (writer 5 to 7), then dropped: the writer is an old one, the messages are new."""
    stored = Stored(spark, tmp_path, "id int, must int", schema_id=7, end=10)
    with pytest.raises(SchemaRefused, match="must"):
        stored.fitted(batch(spark, (3, {"id": 1, "name": None}), first=10))


def test_old_messages_may_lack_a_required_column(spark: SparkSession, tmp_path: Path) -> None:
    stored = Stored(spark, tmp_path, "id int, must int", schema_id=7, end=10)
    again = batch(spark, (9, {"id": 1}), (7, {"id": 2, "must": 2}), first=8)
    assert {(row["id"], row["must"]) for row in stored.fitted(again).collect()} == {(1, None), (2, 2)}


def test_a_deleted_row_does_not_hold_up_the_others(spark: SparkSession, tmp_path: Path) -> None:
    stored = Stored(spark, tmp_path, "id int, must int, __deleted string", schema_id=7, end=10)
    deleted = {"id": 1, "__deleted": "true"}
    mixed = batch(spark, (8, {**deleted, "must": "x"}), (9, {**deleted, "id": 3}), (7, {"id": 2, "must": 2}), first=10)
    rows = stored.fitted(mixed).select("id", "must", "__deleted").collect()
    assert {tuple(row) for row in rows} == {(1, None, "true"), (3, None, "true"), (2, 2, "false")}
    with pytest.raises(SchemaRefused, match="column must is int in the lake and arrives as string"):
        stored.fitted(batch(spark, (8, {"id": 1, "must": "x"}), (7, {"id": 2, "must": 2}), first=10))


def test_a_topic_that_was_made_anew_is_not_read_on(spark: SparkSession, tmp_path: Path) -> None:
    stored = Stored(spark, tmp_path, "id int", schema_id=9, end=5)
    stored.read_from(Topic("first", 1))  # of a commit before ids were known
    stored._position["topic_id"] = "first"
    for same in (Topic("first", 1), Topic("", 0)):
        stored.read_from(same)
    with pytest.raises(TopicChanged, match=r"made anew.*write epoch: 1 for the table in databases/lab.yaml"):
        stored.read_from(Topic("second", 1))
    stored.table = replace(stored.table, epoch=1)
    stored.read_from(Topic("second", 1))


def test_a_topic_that_got_partitions_is_not_read_on(spark: SparkSession, tmp_path: Path) -> None:
    """A key that moved begins again at offset 0: its changes would look older than what is stored."""
    stored = Stored(spark, tmp_path, "id int", schema_id=9, end=5)
    with pytest.raises(TopicChanged, match=r"has 3 partitions, not 1.*write epoch: 1"):
        stored.read_from(Topic("first", 3))
    stored.table = replace(stored.table, partitions=3)
    stored.read_from(Topic("first", 3))


def test_what_kafka_deleted_before_it_was_read_is_told_without_a_checkpoint(
    spark: SparkSession, tmp_path: Path
) -> None:
    stored = Stored(spark, tmp_path, "id int", schema_id=9, end=5)
    for there in ({0: 0}, {0: 5}, {}):
        stored.refuse_gap(there)
    with pytest.raises(TopicChanged, match=r"partition 0: offsets 5 to 6 were deleted before they were read"):
        stored.refuse_gap({0: 7})
    stored.table = replace(stored.table, epoch=1)
    stored.refuse_gap({0: 7})


def test_a_new_epoch_knows_no_offset_of_the_old_one() -> None:
    """A partition without a message yet would count as read."""
    held = {"epoch": 0, "offsets": {"0": 5, "1": 9}, "lsn": 7}
    read: Any = [{"partition": 0, "offset": 1, "lsn": 8, "last_id": 3, "messages": 2, "changes": 0, "committed_ms": []}]
    assert following(held, table(), "first", read, read, {})["offsets"] == {"0": 2, "1": 9}
    assert following(held, replace(table(), epoch=1), "first", read, read, {})["offsets"] == {"0": 2}
