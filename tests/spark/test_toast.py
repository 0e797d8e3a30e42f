"""What a change leaves out comes from the change before it: in its batch, in the table, under the old key."""

import io
import json
import random
import re
import struct
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import fastavro
import pytest
from pyspark.sql import DataFrame, SparkSession

from spark_jobs.events import decode, toast
from spark_jobs.events.batch import Batch, summary
from spark_jobs.events.deletes import erase_deleted
from spark_jobs.events.flatten import EPOCH_SIZE
from spark_jobs.events.latest_by_key import latest_by_key
from spark_jobs.events.toast_from_table import Unfillable, with_stored_values
from spark_jobs.parity import compare
from spark_jobs.runtime.pipeline import Table
from spark_jobs.sources.postgres.avro_types import converted
from tests.source_table import table

ROOT = Path(__file__).parents[2]
COLUMNS = (
    "id int, place string, n int, t string, u string, __op string, __lsn bigint, __deleted string, _order bigint, "
    "__unavailable array<string>, __moved_from map<string,string>"
)
STORED = ", ".join(COLUMNS.split(", ")[:9])
LACKS = object()
DEFAULT = table(identity="default")
Row = tuple[Any, ...]


def change(order: int, key: int, op: str = "u", lsn: int | None = None, **values: Any) -> Row:
    """A message as it is decoded; values that are LACKS did not come."""
    full = {"place": "here", "n": order % EPOCH_SIZE, "t": None, "u": None, **values}
    lacks = [name for name in ("t", "u") if full[name] is LACKS]
    row = [None if full[name] is LACKS else full[name] for name in ("place", "n", "t", "u")]
    return (key, *row, op, lsn or order, str(op == "d").lower(), order, lacks or None, None)


def leaves(order: int, key: int, lsn: int) -> Row:
    """The delete that the change of a key begins with."""
    return (key, None, None, None, None, "d", lsn, "true", order, [toast.ALL], None)


def arrives(order: int, key: int, old: int, lsn: int, **values: Any) -> Row:
    """The create that it ends with."""
    return (*change(order, key, "c", lsn, **values)[:-1], {"id": str(old)})


def stored(order: int, key: int, op: str = "u", lsn: int | None = None, **values: Any) -> Row:
    return change(order, key, op, lsn, **values)[:9]


class Held:
    """Stored rows without Hudi."""

    def __init__(self, spark: SparkSession, rows: list[Row]) -> None:
        self._rows = spark.createDataFrame(rows, STORED)
        self.reads = 0

    def read(self) -> DataFrame:
        self.reads += 1
        return self._rows


def written(rows: DataFrame, names: list[str], held: Held | None, lab: Table = DEFAULT) -> tuple[list[str], list[Any]]:
    """Columns and rows that are written of all changes of a batch."""
    latest = latest_by_key(toast.carried(rows, lab, names), lab.keys)
    with with_stored_values(latest, lab, held.read if held else None) as found:
        return found.columns, found.collect()


def filled(spark: SparkSession, batch: list[Row], held: list[Row], lab: Table = DEFAULT) -> dict[int, Row]:
    """What is written: by key n, t, u and whether the row is deleted."""
    rows = spark.createDataFrame(batch, COLUMNS)
    names = sorted({name for row in batch for name in row[9] or ()})
    columns, found = written(rows, names or ["t"], Held(spark, held) if held else None, lab)
    assert columns == rows.columns[:9]
    return {row["id"]: (row["n"], row["t"], row["u"], row["__deleted"]) for row in found}


# --- Within a batch.


def test_the_last_value_of_the_batch_not_the_stored_one(spark: SparkSession) -> None:
    """The fault of a merge by sentinel: of two updates the first brings the value, the second leaves it out."""
    batch = [change(11, 1, t="new", u=LACKS), change(12, 1, t=LACKS, u=LACKS)]
    assert filled(spark, batch, [stored(5, 1, t="old", u="kept")]) == {1: (12, "new", "kept", "false")}


def test_insert_and_update_in_one_batch_need_no_table(spark: SparkSession) -> None:
    assert filled(spark, [change(1, 7, "c", t="a", u=None), change(2, 7, t=LACKS)], []) == {7: (2, "a", None, "false")}


def test_nothing_is_taken_over_a_message_that_may_have_been_set_aside(spark: SparkSession) -> None:
    """Else the row would have columns of two of its versions; the next change that brings all is taken."""
    lab = replace(DEFAULT, on_bad_message="quarantine")
    held = [stored(5, 1, t="t5", u="u")]
    for batch in ([change(12, 1, t=LACKS, u="u")], [change(11, 1, t="t11", u="u"), change(12, 1, t=LACKS, u="u")]):
        with pytest.raises(Unfillable):
            filled(spark, batch, held, lab)
    moved = [leaves(11, 1, lsn=11), arrives(12, 2, old=1, lsn=11, t=LACKS, u="u")]
    with pytest.raises(Unfillable):
        filled(spark, moved, held, lab)
    assert filled(spark, [*batch, change(13, 1, t="t13", u="u")], held, lab) == {1: (13, "t13", "u", "false")}


def test_a_null_that_came_is_a_value(spark: SparkSession) -> None:
    batch = [change(11, 1, t=None, u="u"), change(12, 1, t=LACKS, u=LACKS)]
    with pytest.raises(Unfillable):  # but no large value is null: this one is another's
        filled(spark, [batch[1]], [stored(5, 1, t=None, u="u")])
    assert filled(spark, batch, [stored(5, 1, t="old", u="old")])[1] == (12, None, "u", "false")


def test_what_is_left_out_does_not_follow_from_the_order_of_rows(spark: SparkSession) -> None:
    chance = random.Random(3)
    batch, last = [], {}
    for order in range(1, 400):
        key = chance.randrange(20)
        t = LACKS if key in last and chance.random() < 0.7 else f"t{order}"
        last[key] = (order, last[key][1] if t is LACKS else t, "u", "false")
        batch.append(change(order, key, t=t, u="u"))
    chance.shuffle(batch)
    assert filled(spark, batch, []) == last


# --- From the table.


def test_from_the_stored_row(spark: SparkSession) -> None:
    held = [stored(5, key, op, t=f"t{key}", u="u") for key, op in enumerate("rcu")]
    batch = [change(9 + key, key, t=LACKS, u="x") for key in range(3)]
    assert filled(spark, batch, held) == {key: (9 + key, f"t{key}", "x", "false") for key in range(3)}


def test_complete_changes_look_nothing_up(spark: SparkSession) -> None:
    held = Held(spark, [stored(5, 1, t="t1")])
    rows = spark.createDataFrame([change(8, 1, t="a"), change(9, 1, t=LACKS)], COLUMNS)
    written(rows, ["t"], held)
    assert held.reads == 0


def test_an_old_batch_again_changes_nothing(spark: SparkSession) -> None:
    held = [stored(9, 1, t="the same"), stored(12, 2, t="later"), stored(12, 3, "d")]
    assert filled(spark, [change(9, key, t=LACKS) for key in (1, 2, 3)], held) == {}


def test_what_debezium_sends_again_is_no_newer_than_it_was(spark: SparkSession) -> None:
    """Offsets are new, the LSN is the old one: values of two versions must not meet in one row."""
    held = [stored(9, 1, lsn=90, t="t90"), stored(8, 2, "r", lsn=90, t="t2")]
    again = [change(20, 1, lsn=70, t=LACKS), change(21, 2, lsn=70, t=LACKS)]
    assert filled(spark, again, held) == {2: (21, "t2", None, "false")}  # a snapshot's LSN says nothing (F2)
    assert filled(spark, [change(22, 1, lsn=90, t=LACKS)], held) == {1: (22, "t90", None, "false")}


def test_a_row_of_an_earlier_epoch_of_the_topic_is_no_source(spark: SparkSession) -> None:
    lab = Table(**{**DEFAULT.__dict__, "epoch": 1})
    change_ = change(EPOCH_SIZE + 3, 1, lsn=9, t=LACKS)
    with pytest.raises(Unfillable, match="offset 3"):
        filled(spark, [change_], [stored(5, 1, t="before the gap", lsn=99)], lab)


def test_a_row_in_another_partition_is_found(spark: SparkSession) -> None:
    lab = table(identity="default", partition="place")
    held = [stored(5, 1, place="there", t="t1"), stored(6, 2, place="here", t="t2"), stored(7, 3, place=None, t="t3")]
    batch = [change(9, key, place="here", t=LACKS) for key in (1, 2, 3)]
    assert filled(spark, batch, held, lab) == {key: (9, f"t{key}", None, "false") for key in (1, 2, 3)}


def test_one_partition_is_read_when_it_has_all(spark: SparkSession) -> None:
    lab = table(identity="default", partition="place")
    held = Held(spark, [stored(6, 2, place="here", t="t2")])
    rows = spark.createDataFrame([change(9, 2, t=LACKS)], COLUMNS)
    written(rows, ["t"], held, lab)
    assert held.reads == 1


# --- Deleted rows.


def test_a_row_that_came_back(spark: SparkSession) -> None:
    batch = [change(9, 1, "d"), change(10, 1, "c", t="again"), change(11, 1, t=LACKS)]
    assert filled(spark, batch, [stored(5, 1, t="old")]) == {1: (11, "again", None, "false")}
    tombstone = [stored(9, 1, "d")]
    assert filled(spark, batch[1:], tombstone) == {1: (11, "again", None, "false")}


def test_a_value_that_no_row_has_is_named(spark: SparkSession) -> None:
    held = [stored(9, 2, "d", t="gone"), stored(8, 3, t=None), stored(8, 4, t="other")]
    batch = [change(11, 1, t=LACKS), change(12, 2, t=LACKS), change(13, 3, t=LACKS), change(14, 5, t="whole")]
    said = r'public\.t: t of key \["1"\], \["2"\], \["3"\] did not change at offset 11'
    with pytest.raises(Unfillable, match=said) as caught:
        filled(spark, batch, held)
    assert caught.value.offsets == [11, 12, 13]


def test_nothing_is_carried_over_a_delete(spark: SparkSession) -> None:
    """The insert between them is missing, in the quarantine for one."""
    with pytest.raises(Unfillable):
        filled(spark, [change(9, 1, "c", t="a"), change(10, 1, "d"), change(11, 1, t=LACKS)], [])


def test_a_delete_needs_no_value(spark: SparkSession) -> None:
    assert filled(spark, [change(11, 1, t=LACKS), change(12, 1, "d")], []) == {1: (12, None, None, "true")}


# --- Keys that change.


def test_a_key_changes_in_one_batch(spark: SparkSession) -> None:
    batch = [leaves(10, 1, 100), arrives(11, 2, 1, 100, t=LACKS, u="u"), change(12, 2, lsn=120, t=LACKS, u="v")]
    assert filled(spark, batch, [stored(5, 1, t="mine", u="x")]) == {
        1: (5, "mine", "x", "true"),  # as it left: the create may be in the next batch
        2: (12, "mine", "v", "false"),
    }


def test_a_chain_and_a_swap(spark: SparkSession) -> None:
    moves = [(1, 3), (2, 1), (3, 2), (4, 5), (5, 6)]
    batch = []
    for number, (old, new) in enumerate(moves):
        order = 10 + 2 * number
        batch += [leaves(order, old, order), arrives(order + 1, new, old, order, t=LACKS)]
    live = filled(spark, batch, [stored(k, k, t=f"t{k}") for k in (1, 2, 4)])
    assert {key: row[1] for key, row in live.items() if row[3] == "false"} == {1: "t2", 2: "t1", 6: "t4"}


def test_a_key_that_another_row_takes_over(spark: SparkSession) -> None:
    batch = [change(9, 2, "d"), leaves(10, 1, 10), arrives(11, 2, 1, 10, t=LACKS), change(12, 1, "c", t="new")]
    held = [stored(5, 1, t="one"), stored(6, 2, t="two")]
    assert filled(spark, batch, held) == {1: (12, "new", None, "false"), 2: (11, "one", None, "false")}


def test_a_batch_that_ends_between_delete_and_create(spark: SparkSession) -> None:
    first = filled(spark, [leaves(10, 1, 100)], [stored(5, 1, t="mine")])
    assert first == {1: (5, "mine", None, "true")}
    tombstone = [stored(10, 1, "d", lsn=100, t="mine")]
    chain = [arrives(11, 2, 1, 100, t=LACKS), leaves(12, 2, 120), arrives(13, 3, 2, 120, t=LACKS)]
    assert filled(spark, chain, tombstone)[3] == (13, "mine", None, "false")
    with pytest.raises(Unfillable, match=r'key \["2"\]'):
        filled(spark, chain[:1], [stored(10, 1, "d", lsn=99, t="another's")])


def test_a_change_of_key_that_is_sent_again(spark: SparkSession) -> None:
    """All in one batch, or cut anywhere: with a key for each place of the cut, since a batch takes its time."""
    cuts = {10: 0, 20: 1, 30: 2, 40: 4}
    rows = {key: stored(5, key, t="mine") for key in cuts}
    sent = {key: [*_moved(10, key), *_moved(20, key)] for key in cuts}
    for batch in ([sent[key][:cut] for key, cut in cuts.items()], [sent[key][cut:] for key, cut in cuts.items()]):
        rows.update(apply(spark, list(chain(*batch)), list(rows.values())))
    for key in cuts:
        assert rows[key + 1][1:5] == ("here", 22, "mine", "v")
        assert (rows[key][3], rows[key][7]) == ("mine", "true")


def _moved(order: int, key: int) -> list[Row]:
    arrived = arrives(order + 1, key + 1, key, 100, t=LACKS)
    return [leaves(order, key, 100), arrived, change(order + 2, key + 1, lsn=120, t=LACKS, u="v")]


def test_a_table_that_is_ahead_of_a_changed_key(spark: SparkSession) -> None:
    """Another row has taken the old key since: the changed row's value is its own, not that row's."""
    again = [leaves(20, 1, 100), arrives(21, 2, 1, 100, t=LACKS), leaves(22, 3, 90), arrives(23, 4, 3, 90, t=LACKS)]
    held = [
        stored(12, 1, "c", lsn=130, t="another's"),
        stored(11, 2, "c", lsn=100, t="mine"),
        stored(2, 3, "r", lsn=10, t="another's"),  # read by a snapshot after all this (ADR 15)
        stored(2, 4, "r", lsn=10, t="mine too"),
    ]
    found = filled(spark, again, held)
    assert {key: found[key] for key in (2, 4)} == {2: (21, "mine", None, "false"), 4: (23, "mine too", None, "false")}


def test_a_key_whose_row_was_deleted_in_the_batch_is_free(spark: SparkSession) -> None:
    batch = [change(9, 2, "d"), leaves(10, 1, 8), arrives(11, 2, 1, 8, t=LACKS)]  # the delete was waited for (F1)
    assert filled(spark, batch, [stored(5, 1, t="one"), stored(6, 2, lsn=9, t="two")])[2] == (11, "one", None, "false")


def apply(spark: SparkSession, batch: list[Row], held: list[Row]) -> dict[int, Row]:
    rows = spark.createDataFrame(batch, COLUMNS)
    names = sorted({name for row in batch for name in row[9] or ()})
    _, found = written(rows, names, Held(spark, held) if held else None)
    return {row["id"]: tuple(row) for row in found}


def test_spans_of_keys() -> None:
    moves = [toast.Move(10, 100, "a", None), toast.Move(11, 100, "b", "a"), toast.Move(20, 100, "a", None)]
    assert toast.lineage_spans(moves) == [
        ("a", 10, 11, "a"),
        ("a", 11, 20, "@11"),
        ("a", 20, toast.END, "a"),
        ("b", 11, toast.END, "a"),
    ]


def test_a_hard_delete_erases_what_the_change_of_a_key_took_along(spark: SparkSession) -> None:
    lab = table(identity="default", delete="hard")
    rows = spark.createDataFrame([stored(5, 1, "d", t="secret")], STORED)
    assert [row["t"] for row in erase_deleted(rows, lab).collect()] == [None]


# --- Messages.

KEY = {"type": "record", "name": "Key", "namespace": "lab.public.t", "fields": [{"name": "id", "type": "int"}]}
AMOUNT = {
    "type": "string",
    "connect.parameters": {
        "__debezium.source.column.type": "NUMERIC",
        "__debezium.source.column.length": "10",
        "__debezium.source.column.scale": "2",
    },
}
WRITER = {
    "type": "record",
    "name": "Value",
    "namespace": "lab.public.t",
    "fields": [
        {"name": "id", "type": "int"},
        {"name": "t", "type": ["null", "string"], "default": None},
        {"name": "amount", "type": ["null", AMOUNT], "default": None},
        {"name": "__op", "type": "string"},
        {"name": "__lsn", "type": "long"},
        {"name": "__source_ts_ms", "type": "long"},
        {"name": "__deleted", "type": "string"},
        {"name": "__unavailable", "type": ["null", {"type": "array", "items": "string"}], "default": None},
        {"name": "__moved_from", "type": ["null", KEY], "default": None},
    ],
}


def message(offset: int, **row: Any) -> tuple[int, int, bytes]:
    out = io.BytesIO()
    full = {"__op": "u", "__lsn": 1, "__source_ts_ms": 1, "__deleted": "false", **row}
    fastavro.schemaless_writer(out, fastavro.parse_schema(WRITER), full)
    return 0, offset, struct.pack(">bI", 0, 3) + out.getvalue()


def test_the_placeholder_goes_where_it_is_named_and_only_there(spark: SparkSession) -> None:
    sent = [
        message(1, id=1, t=compare.PLACEHOLDER, amount=compare.PLACEHOLDER, __unavailable=["t", "amount"]),
        message(2, id=2, t=compare.PLACEHOLDER, amount="1.50", __moved_from={"id": 1}),
    ]
    messages = spark.createDataFrame(sent, "partition int, offset long, value binary")
    rows = decode.Decoder(WRITER, DEFAULT).rows(messages).orderBy("_order").collect()
    assert [(row["t"], row["amount"] and str(row["amount"])) for row in rows] == [
        (None, None),
        (compare.PLACEHOLDER, "1.50"),
    ]
    assert [(row["__unavailable"], row["__moved_from"]) for row in rows] == [
        (["t", "amount"], None),
        (None, {"id": "1"}),
    ]
    assert Batch(messages, summary(messages, {3: WRITER})).left_out == ["amount", "t"]


def test_a_writer_that_leaves_nothing_out_is_decoded_as_ever() -> None:
    plain = {**WRITER, "fields": WRITER["fields"][:7]}  # type: ignore[index]
    assert toast.lake_columns(plain, "row", converted)[1] == "row.`t` AS `t`"


def test_one_placeholder_for_all() -> None:
    """The connector writes it, the transform names it, verify looks for it; U+0000 is in no text of PostgreSQL."""
    settings = json.loads((ROOT / "connector_configs" / "source_postgres_kafka.json").read_text())
    java = (ROOT / "connect_transforms/src/main/java/lake/connect/NameUnavailable.java").read_text()
    (constant,) = re.findall(r'PLACEHOLDER = "(.*)";', java)
    assert settings["unavailable.value.placeholder"] == json.loads(f'"{constant}"') == compare.PLACEHOLDER
    assert "\0" in compare.PLACEHOLDER


# --- Schema changes.


def test_a_column_that_the_table_lacks_has_no_stored_value(spark: SparkSession) -> None:
    """Renamed: the stored rows have the value under the old name, and the lake can't know that."""
    rows = spark.createDataFrame([change(9, 1, t=LACKS)], COLUMNS).withColumnRenamed("t", "v")
    rows = rows.selectExpr("*", "array('v') AS lacks").drop("__unavailable").withColumnRenamed("lacks", "__unavailable")
    with pytest.raises(Unfillable, match="v of key"):
        written(rows, ["v"], Held(spark, [stored(5, 1, t="t1")]))


def test_a_column_that_is_gone_is_not_missed(spark: SparkSession) -> None:
    rows = spark.createDataFrame([change(9, 1, t=LACKS, u=LACKS)], COLUMNS).drop("u")
    _, found = written(rows, ["t", "u"], Held(spark, [stored(5, 1, t="t1", u="u1")]))
    assert [row["t"] for row in found] == ["t1"]


def test_a_column_added_in_the_batch(spark: SparkSession) -> None:
    rows = spark.createDataFrame([change(9, 1, t="t1", u="new"), change(10, 1, t=LACKS, u=LACKS)], COLUMNS)
    _, found = written(rows, ["t", "u"], None)
    assert [(row["t"], row["u"]) for row in found] == [("t1", "new")]
