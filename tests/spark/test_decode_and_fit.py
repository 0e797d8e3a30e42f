"""From messages to rows: batches of several writers, keys that can't collide, deletes that erase."""

import io
import struct
from typing import Any

import fastavro
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from spark_jobs.events import fencing
from spark_jobs.events.batch import summarize
from spark_jobs.events.decode_and_fit import Stored, decode_and_fit, with_record_key
from spark_jobs.events.deletes import erase_deleted
from spark_jobs.events.schema_evolution import SchemaRefused
from spark_jobs.events.writer_schemas import WriterSchemas
from tests.source_table import table

COLUMNS = (
    "id int, region string, name string, _secret string, __op string, __lsn bigint, __deleted string, _order bigint"
)
LIVE = (1, "north", "Ada", "s1", "u", 10, "false", 7)
GONE = (2, "south", "Bob", "s2", "d", 11, "true", 8)


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


def writer(*fields: tuple[str, Any]) -> dict[str, Any]:
    metadata = (("__op", "string"), ("__lsn", "long"), ("__source_ts_ms", "long"), ("__deleted", "string"))
    named = [{"name": name, "type": kind} for name, kind in (*fields, *metadata)]
    return {"type": "record", "name": "Value", "namespace": "lab.public.t", "fields": named}


TEXT = ["null", "string"]
WRITERS = {
    3: writer(("id", "int"), ("name", TEXT)),
    5: writer(("id", "int"), ("note", TEXT), ("name", TEXT)),
    7: writer(("id", "int"), ("must", "int")),
    8: writer(("id", "int"), ("must", TEXT)),
    9: writer(("id", "int")),
    11: writer(("id", "long"), ("name", TEXT)),
    13: writer(("id", "int"), ("__run", ["null", "long"])),
    15: {**writer(("id", "int")), "namespace": "lab.public.other"},
}


class KnownSchemas:
    def schema(self, schema_id: int) -> dict[str, Any]:
        return WRITERS[schema_id]

    def require(self, subject: str) -> list[int]:
        return [1]


def batch(spark: SparkSession, *rows: tuple[int, dict[str, Any]], first: int = 0) -> DataFrame:
    """Messages of partition 0 from offset `first`, each (writer, row)."""
    messages = []
    for place, (schema_id, row) in enumerate(rows):
        out = io.BytesIO()
        full = {"__op": "u", "__lsn": 1, "__source_ts_ms": 1, "__deleted": "false", **row}
        fastavro.schemaless_writer(out, fastavro.parse_schema(WRITERS[schema_id]), full)
        messages.append((0, first + place, struct.pack(">bI", 0, schema_id) + out.getvalue()))
    return spark.createDataFrame(messages, "partition int, offset long, value binary")


class Lake:
    """A table as its last commit left it."""

    def __init__(self, spark: SparkSession, columns: str = "", schema_id: int = 0, end: int = 0) -> None:
        registry: Any = KnownSchemas()
        position = {"schema_id": schema_id, "epoch": 0, "offsets": {"0": end}} if columns else {}
        self._stored = Stored(
            "lab_mor.t", spark.createDataFrame([], columns).schema if columns else StructType([]), position
        )
        self._schemas = WriterSchemas(registry, table())

    def fitted(self, messages: DataFrame) -> DataFrame:
        return decode_and_fit(summarize(messages, self._schemas), self._schemas, self._stored)


def test_stale_generations_ahead_are_found_by_schemas_that_no_batch_had(spark: SparkSession) -> None:
    """And a message that is not of this table, by 15, stays what it is: it is set aside later."""
    registry: Any = KnownSchemas()
    ahead = batch(spark, *[(13, {"id": 1, "__run": run}) for run in (1, 9, 1)], (15, {"id": 1}))
    left = fencing.drop_stale_ahead(ahead, {}, WriterSchemas(registry, table()))
    assert sorted(row["offset"] for row in left.collect()) == [0, 1, 3]


def test_one_batch_of_three_writers(spark: SparkSession) -> None:
    messages = batch(
        spark,
        (3, {"id": 1, "name": "a"}),
        (9, {"id": 2}),
        (5, {"id": 3, "note": "m", "name": "c"}),
        (3, {"id": 4, "name": None}),
    )
    rows = Lake(spark).fitted(messages)
    assert {tuple(row) for row in rows.select("id", "name", "note", "_order").collect()} == {
        (1, "a", None, 0),
        (2, None, None, 1),
        (3, "c", "m", 2),
        (4, None, None, 3),
    }


def test_a_new_column_in_the_middle_of_a_batch_goes_last(spark: SparkSession) -> None:
    lake = Lake(spark, "id int, name string, _order bigint, __deleted string", schema_id=3)
    rows = lake.fitted(batch(spark, (3, {"id": 1, "name": "a"}), (5, {"id": 3, "note": "m", "name": "c"})))
    assert rows.columns[:4] == ["id", "name", "_order", "__deleted"]
    assert {tuple(row) for row in rows.select("id", "name", "note").collect()} == {(1, "a", None), (3, "c", "m")}


def test_a_wider_writer_widens_the_batch(spark: SparkSession) -> None:
    lake = Lake(spark, "id int, name string", schema_id=3)
    rows = lake.fitted(batch(spark, (3, {"id": 1, "name": "a"}), (11, {"id": 2**40, "name": "b"})))
    assert dict(rows.dtypes)["id"] == "bigint"
    assert {row["id"] for row in rows.collect()} == {1, 1099511627776}


def test_a_required_column_that_is_gone_from_one_writer_of_the_batch(spark: SparkSession) -> None:
    lake = Lake(spark, "id int, must int", schema_id=7, end=10)
    mixed = batch(spark, (9, {"id": 1}), (7, {"id": 2, "must": 2}), first=10)
    with pytest.raises(SchemaRefused, match=r"lab_mor\.t: NOT NULL column must was dropped"):
        lake.fitted(mixed)


def test_a_schema_that_comes_back_is_no_excuse(spark: SparkSession) -> None:
    """NOT NULL column added (writer 5 to 7), then dropped: the writer is an old one, the messages are new."""
    lake = Lake(spark, "id int, must int", schema_id=7, end=10)
    with pytest.raises(SchemaRefused, match="must"):
        lake.fitted(batch(spark, (3, {"id": 1, "name": None}), first=10))


def test_old_messages_may_lack_a_required_column(spark: SparkSession) -> None:
    lake = Lake(spark, "id int, must int", schema_id=7, end=10)
    again = batch(spark, (9, {"id": 1}), (7, {"id": 2, "must": 2}), first=8)
    assert {(row["id"], row["must"]) for row in lake.fitted(again).collect()} == {(1, None), (2, 2)}


def test_a_deleted_row_does_not_hold_up_the_others(spark: SparkSession) -> None:
    lake = Lake(spark, "id int, must int, __deleted string", schema_id=7, end=10)
    deleted = {"id": 1, "__deleted": "true"}
    mixed = batch(spark, (8, {**deleted, "must": "x"}), (9, {**deleted, "id": 3}), (7, {"id": 2, "must": 2}), first=10)
    rows = lake.fitted(mixed).select("id", "must", "__deleted").collect()
    assert {tuple(row) for row in rows} == {(1, None, "true"), (3, None, "true"), (2, 2, "false")}
    with pytest.raises(SchemaRefused, match="column must is int in the lake and arrives as string"):
        lake.fitted(batch(spark, (8, {"id": 1, "must": "x"}), (7, {"id": 2, "must": 2}), first=10))
