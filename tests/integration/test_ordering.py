"""Rows are what PostgreSQL committed last, however transactions cross, values repeat and old events come again."""

from datetime import date
from decimal import Decimal

import pytest

from lake.clients import stream_status
from spark_jobs.hudi import table_services
from tests.integration import own_table, readers
from tests.integration.lab import Lab
from tests.rereading import read_again

pytestmark = pytest.mark.integration
SAME = ("hot", "moving", "gone", "pairs", "big", "bare", "grown", "strict", "retyped")


def test_the_lake_equals_the_source(done: Lab) -> None:
    assert done.differences(*SAME) == {}
    assert done.differences("dawn", database="early") == {}
    assert len(done.source("hot")) == 512
    assert len(done.source("pairs")) == 8


def test_f1_an_insert_that_waited_for_a_delete(done: Lab) -> None:
    for table, kind in (("hot", "cow"), ("hot", "mor"), ("moving", "cow"), ("moving", "mor")):
        assert done.live(table, kind)[(1,)][-1] == "second"
    for table in ("hot", "moving"):
        assert done.merged(table, by="offset")[1] == "second"
        assert 1 not in done.merged(table, by="__lsn"), "ordered by LSN the row is lost: the interleaving was real"


def test_f2_a_transaction_open_during_the_snapshot_through_an_old_slot(done: Lab) -> None:
    assert done.live("dawn", "mor", "early") == {(1,): (1, "late"), (2,): (2, "before")}
    assert done.merged("dawn", by="offset", database="early") == {1: "late", 2: "before"}
    # Rows of the snapshot have the slot's position, so here an order by LSN would do no harm; F1 and F3 show it does.
    assert done.merged("dawn", by="__lsn", database="early")[1] == "late"


def test_f3_transactions_staggered_around_a_new_slot(done: Lab) -> None:
    for kind in ("cow", "mor"):
        rows = done.live("hot", kind)
        assert [rows[(key,)][1] for key in (901, 902, 903)] == ["new", "new", "new"]
    assert done.merged("hot", by="__lsn")[903] == "old"


def test_f4_one_transaction_has_one_commit_time(done: Lab) -> None:
    records = [row for row in readers.topic_records(done.home, "lab.public.hot") if 1001 <= row["id"] <= 2000]
    assert len(records) == 6500
    assert len({row["__source_ts_ms"] for row in records}) == 1  # so no time can order them
    for kind in ("cow", "mor"):
        rows = {key: row for key, row in done.live("hot", kind).items() if 1001 <= key[0] <= 2000}
        assert rows == {(key,): (key, "u5") for key in range(1002, 2001, 2)}


def test_f7_a_delete_keeps_the_row_under_full(done: Lab) -> None:
    for kind in ("cow", "mor"):
        row = done.deleted("moving", kind)[12]
        assert (row["part"], row["v"], row["_hoodie_partition_path"]) == ("e", "v12sne", "part=e")
        assert set(done.deleted("moving", kind)) == {12, 13}
        assert set(done.deleted("hot", kind)) == {2001, 2005}  # the other ones lived within one transaction (ADR 45)


def test_f7_a_delete_that_brings_only_the_key_under_default(done: Lab) -> None:
    deleted = done.deleted("bare", "mor")
    assert {key: [row[name] for name in ("day", "n", "name", "price", "note")] for key, row in deleted.items()} == {
        1: [None] * 5
    }
    assert done.live("bare", "mor") == {
        (2,): (2, date(2025, 1, 1), 5, "again", Decimal("0.00"), None),
        (3,): (3, date(2024, 2, 29), 21, "name 3", Decimal("3.75"), "n"),
    }


def test_f8_large_values_that_did_not_change(done: Lab) -> None:
    rows = {key[0]: row for key, row in done.live("big", "mor").items() if key[0] < 100}
    assert {key: (row[1], len(row[2])) for key, row in rows.items()} == {1: (3, 30080), 2: (1, 30080), 4: (9, 30080)}
    assert rows[1][2] != rows[1][4].decode()  # only the text was changed
    assert "unavailable" not in str(done.whole("big", "mor"))


def test_the_rows_of_a_table_may_come_through_several_partitions(done: Lab) -> None:
    reached = stream_status.reported(done.home)["lab_mor.big"]["offsets"]
    assert len(reached) == 3, "each of its partitions has one of 34 keys"


def test_f9_keys(done: Lab) -> None:
    changed = {2002: "k2003", 2003: "k2002", 2004: "turn 99", 2021: "k2001"}
    shifted = {key + 1: f"k{key}" for key in (2005, 2006, 2007, 2008)}
    for kind in ("cow", "mor"):
        rows = {key[0]: row[1] for key, row in done.live("hot", kind).items() if key[0] > 2000}
        assert rows == {**changed, **shifted}
    pairs = {key: row[3] for key, row in done.live("pairs", "mor").items()}
    assert pairs[("a", "b,k2:c", 1)] == "changed"
    assert (pairs[("x", "y", 5)], pairs[("y", "x", 5)]) == ("swap 5 back", "swap 5")
    assert ("a,k2:b", "c", 1) not in pairs


def test_null_beside_a_default_stays_null(done: Lab) -> None:
    rows = {row["id"]: row for row in done.stored("defaults", "cow").collect()}
    names = done.names("defaults")[1:]
    for key in (1, 3, 10):
        assert {name: rows[key][name] for name in names if rows[key][name] is not None} == {}
    assert [name for name in names if rows[2][name] is None] == []


def test_hard_delete_leaves_no_data(done: Lab) -> None:
    for kind in ("cow", "mor"):
        assert {key: (row["name"], row["_secret"]) for key, row in done.deleted("gone", kind).items()} == {
            1: (None, None)
        }
        assert done.live("gone", kind)[(2,)] == (2, "again", "new secret")


def test_f6_old_events_again_change_nothing(done: Lab) -> None:
    replayed = ("moving_cow", "moving_mor", "gone_cow", "gone_mor")
    done.stack.supervisors["stream"].stop()
    before = {name: done.whole(*name.split("_")) for name in replayed}
    for name in replayed:
        table, kind = name.split("_")
        silver = own_table.writer(done.spark, done.home, f"lab.{table}", kind)
        for count in (4, 8):
            silver.write(own_table.messages(done.spark, done.home, silver.source.topic, 0, count))
        assert done.whole(*name.split("_")) == before[name], f"{name} after old events"
        if silver.target.type == "mor":
            table_services.serve(silver)
            compacted = done.spark.read.option("hoodie.datasource.query.type", "read_optimized")
            assert compacted.format("hudi").load(silver.path).count() == len(before[name])
            silver.write(own_table.messages(done.spark, done.home, silver.source.topic, 0, 8))
            assert done.whole(*name.split("_")) == before[name], f"{name} after compaction and old events"


def test_f6_a_topic_that_is_read_again_changes_nothing(done: Lab) -> None:
    """Runs after the test above: the streaming job is stopped and merge-on-read tables are compacted."""
    before = {name: done.whole(*name.split("_")) for name in ("moving_mor", "gone_cow", "hot_mor")}
    names = ["lab_{1}.{0}".format(*name.split("_")) for name in before]
    done.transaction(  # once these are in the lake, all that came before has been read again
        "INSERT INTO moving VALUES (99, 'end', '')",
        "INSERT INTO gone VALUES (99, '', '')",
        "INSERT INTO hot VALUES (99, '')",
    )
    done.stack.start("stream")
    read_again(done.home, *names)
    done.drain()
    for name, rows in before.items():
        again = done.whole(*name.split("_"))
        assert len(again - rows) == 1 and rows - again == set(), name
    assert done.differences(*SAME) == {}
