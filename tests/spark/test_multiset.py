"""A table without a key whose rows are updated and deleted: its rows are those of the source, each as often."""

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from spark_jobs.events.multiset import folded
from spark_jobs.events.validate import NO_SUCH_ROW, UNNAMED, NoSuchRow
from spark_jobs.hudi import delete_orphans, timeline
from spark_jobs.hudi.appender import is_appendable
from spark_jobs.streaming.table_writer import PoisonMessage
from tests.poisoned import COPY, LINE, message
from tests.spark.hudi_lab import Lab

OF_MESSAGE = "line string, __op string, __deleted string, __lsn long, __source_ts_ms long"
COLUMNS = f"{OF_MESSAGE}, __row string, __content string, __ended_by string, _order long"
Change = tuple[str, str, str]  # op, the line before, the line after


def row(place: int, change: Change) -> dict[str, Any]:
    """What Connect makes of the change at a place of the log; the content of a line is the line."""
    op, before, after = change
    content = before if op == "d" else after
    facts = {"__op": op, "__deleted": str(op == "d").lower(), "__lsn": place, "__source_ts_ms": place}
    names = {"__row": f"{place:016x}-1", "__content": content, "__was": before if op == "u" else None}
    return {"line": content, **facts, **names}


class Stored:
    """The rows of a table in memory, as Hudi keeps them: of each key the one with the greatest order."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self.rows: dict[str, dict[str, Any]] = {}

    def write(self, sent: list[tuple[int, dict[str, Any]]]) -> None:
        """sent: rows, each with its offset."""
        found = [{**one, "__ended_by": None, "_order": offset} for offset, one in sent]
        rows = self._spark.createDataFrame(found, f"{COLUMNS}, __was string")
        read = (lambda: self._spark.createDataFrame(list(self.rows.values()), COLUMNS)) if self.rows else None
        with folded(rows, read) as changed:
            assert changed.columns == rows.drop("__was").columns
            written = [one.asDict() for one in changed.collect()]
        assert len({one["__row"] for one in written}) == len(written)
        for one in written:
            assert one["_order"] > self.rows.get(one["__row"], {"_order": -1})["_order"]
            self.rows[one["__row"]] = one

    def live(self) -> Counter[str]:
        return Counter(one["line"] for one in self.rows.values() if one["__deleted"] == "false")


def log(number: int) -> Iterator[Change]:
    """Random changes that a source can make, and few different lines."""
    live: list[str] = []
    for _ in range(number):
        op, line = random.choice("ccud"), random.choice("xyz")
        before = random.choice(live) if live and op != "c" else ""
        if before:
            live.remove(before)
        if op != "d":
            live.append(line)
        if before or op == "c":
            yield op, before, "" if op == "d" else line
        elif op == "u":
            yield "c", "", line


def sent_again(number: int) -> Iterator[int]:
    """The places of a log as Connect sends them: after some it begins again at an earlier one."""
    begin = 0
    while begin < number:
        end = random.randint(begin + 1, number)
        yield from range(begin, end)
        begin = number if end == number else max(0, end - random.randint(0, 8))


@pytest.mark.parametrize("seed", range(3))
def test_any_changes_in_any_batches_though_sent_again(spark: SparkSession, seed: int) -> None:
    random.seed(seed)
    changes = list(log(40))
    places = list(sent_again(len(changes)))
    messages = [(offset, row(place, changes[place])) for offset, place in enumerate(places)]
    lakes = []
    for size in (random.randint(5, 20), len(messages)):
        lakes.append(Stored(spark))
        for first in range(0, len(messages), size):
            lakes[-1].write(messages[first : first + size])
            reached = max(places[: first + size])
            assert lakes[-1].live() == after(changes[: reached + 1]), f"seed {seed}"
    assert lakes[0].rows == lakes[1].rows  # a table of the other type has other batches


def after(changes: list[Change]) -> Counter[str]:
    live: Counter[str] = Counter()
    for op, before, line in changes:
        live.subtract([before] if op != "c" else [])
        live.update([line] if op != "d" else [])
    return +live


def numbered(*changes: Change, first: int = 0) -> list[tuple[int, dict[str, Any]]]:
    return [(place, row(place, change)) for place, change in enumerate(changes, first)]


def test_a_tombstone_is_the_newest_of_the_rows_and_has_the_place_of_its_delete(spark: SparkSession) -> None:
    lake = Stored(spark)
    lake.write(numbered(("c", "", "x"), ("c", "", "x"), ("c", "", "x")))
    lake.write(numbered(("c", "", "y"), ("d", "x", ""), ("c", "", "x"), first=3))
    dead = [one for one in lake.rows.values() if one["__deleted"] == "true"]
    assert [(one["__row"], one["line"], one["__op"], one["_order"], one["__lsn"]) for one in dead] == [
        (f"{2:016x}-1", "x", "d", 4, 4)
    ]
    assert dead[0]["__ended_by"] == f"{4:016x}-1"


def test_rows_of_before_a_snapshot_are_ended_by_what_was_sent_before_it_only(spark: SparkSession) -> None:
    """The former capture sends on until it is stopped; the batch has that, the snapshot, and what follows."""
    lake = Stored(spark)
    lake.write(numbered(("c", "", "x"), ("c", "", "x")))
    lake.write(numbered(("d", "x", ""), ("r", "", "x"), ("r", "", "x"), ("d", "x", ""), first=2))
    live = sorted(int(one["_order"]) for one in lake.rows.values() if one["__deleted"] == "false")
    assert live == [0, 3], "0 is an orphan, and the snapshot has lost one row"


def test_what_ends_no_row_is_refused_with_all_that_depends_on_it(spark: SparkSession) -> None:
    lake = Stored(spark)
    lake.write(numbered(("c", "", "x")))
    bad = numbered(("u", "gone", "y"), ("d", "y", ""), ("d", "x", ""), ("u", "", "z"), first=1)
    with pytest.raises(NoSuchRow, match="does not have") as error:
        lake.write(bad)
    assert error.value.offsets == [1, 2, 4]
    assert lake.live() == {"x": 1}


def sent(*changes: Change, first: int = 0) -> list[bytes]:
    return [message(COPY, **one) for _, one in numbered(*changes, first=first)]


@pytest.fixture
def lab(spark: SparkSession, tmp_path: Path, no_metastore: None) -> Lab:
    return Lab(spark, tmp_path, types=("cow", "mor"), key=[], without_key="multiset")


def lines(lab: Lab, place: int) -> Counter[str]:
    return Counter(one["line"] for one in lab.stored(place).where("__deleted = 'false'").collect())


def test_both_types_of_tables_follow_and_stay_when_all_is_sent_again(lab: Lab) -> None:
    changes: list[Change] = [("r", "", "x")] * 3
    changes += [("c", "", "y"), ("d", "x", ""), ("u", "y", "z"), ("u", "z", "z"), ("d", "x", "")]
    lab.write(*sent(*changes[:4]))
    lab.write(*sent(*changes[4:], first=4), first=4)
    stored = [lab.stored(place).drop("_hoodie_commit_time", "_hoodie_commit_seqno") for place in (0, 1)]
    before = [sorted(map(str, one.collect())) for one in stored]
    lab.write(*sent(*changes[2:], first=2), first=8)
    for place in (0, 1):
        assert lines(lab, place) == {"x": 1, "z": 1}
        assert sorted(map(str, stored[place].collect())) == before[place]
        assert "__was" not in lab.stored(place).columns
    orders = [sorted(tuple(one) for one in lab.stored(place).select("__row", "_order").collect()) for place in (0, 1)]
    assert orders[0] == orders[1]


def test_a_table_stops_at_a_message_that_ends_no_row(spark: SparkSession, tmp_path: Path, no_metastore: None) -> None:
    lab = Lab(spark, tmp_path, policy="stop", key=[], without_key="multiset")
    lab.write(*sent(("c", "", "x")))
    with pytest.raises(PoisonMessage, match="offset 2 can't be applied: it updates or deletes a row that the lake"):
        lab.write(*sent(("c", "", "y"), ("d", "gone", ""), first=1), first=1)
    assert lines(lab, 0) == {"x": 1}


def test_messages_that_end_no_row_are_set_aside_with_those_that_need_them(lab: Lab) -> None:
    broken = message(LINE, line="v", __row=None, __op="r")  # of a snapshot that was interrupted
    good = sent(("c", "", "x"), ("u", "v", "w"), ("d", "w", ""), ("d", "x", ""), ("c", "", "y"))
    lab.write(good[0], broken, *good[1:])
    assert [lines(lab, place) for place in (0, 1)] == [{"y": 1}] * 2
    assert {one["offset"]: one["reason"] for one in lab.aside()} == {
        1: UNNAMED["r"],
        2: NO_SUCH_ROW,
        3: NO_SUCH_ROW,
    }
    assert lab.writers[0].table.reached["offsets"] == {"0": 6}


def test_a_message_stays_set_aside_while_its_row_is_missing(lab: Lab) -> None:
    lab.write(*sent(("c", "", "y"), ("d", "x", "")))
    (aside,) = lab.aside()
    assert lab.ask("replay", aside["id"])["refused"][0]["reason"].endswith(NO_SUCH_ROW)


def test_orphans_of_a_former_snapshot_are_deleted(lab: Lab) -> None:
    lab.write(*sent(("c", "", "x"), ("c", "", "x")))
    lab.write(*sent(("r", "", "x"), ("r", "", "x"), ("d", "x", ""), first=2), first=2)
    for writer in lab.writers:
        delete_orphans.delete_requested(writer.table, [2])
    assert [lines(lab, place) for place in (0, 1)] == [{"x": 1}] * 2


def test_an_append_only_table_becomes_a_multiset(spark: SparkSession, tmp_path: Path, no_metastore: None) -> None:
    """Rows from before have no content: they stay until all are read again."""
    before = Lab(spark, tmp_path, key=[], without_key="append")
    before.write(message(LINE, line="x", __row="a-1", __op="c"))
    lab = Lab(spark, tmp_path, key=[], without_key="multiset")
    lab.write(message(LINE, line="y", __row="a-2", __op="c"), *sent(("r", "", "x"), ("d", "x", "")), first=1)
    lab.write(*sent(("d", "y", ""), first=2), first=4)
    assert lines(lab, 0) == {"x": 1, "y": 1}
    assert [one["offset"] for one in lab.aside()] == [4]


def test_it_is_never_plain(spark: SparkSession, tmp_path: Path, no_metastore: None) -> None:
    tables = [Lab(spark, tmp_path / kind, key=[], without_key=kind).table for kind in ("append", "multiset")]
    found = [is_appendable(spark, table, table.targets[0]) for table in tables]
    assert found == [timeline.is_hudi_0_14(spark), False]
