"""The proof of several tables: what one of them does is not the others' fault, and it asks for keys as they are."""

import json
import time
from argparse import Namespace
from collections.abc import Callable
from typing import Any
from unittest.mock import MagicMock

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from spark_jobs import verify
from spark_jobs.parity import findings, table_check
from spark_jobs.parity.findings import SHOWN
from spark_jobs.parity.sessions import SMALL_BYTES, Sessions
from spark_jobs.parity.table_check import TableCheck, condition
from spark_jobs.runtime import waiting
from spark_jobs.runtime.batch_job import Refused
from spark_jobs.runtime.pipeline import Table
from spark_jobs.runtime.waiting import Deadline, NotCovered
from spark_jobs.sources.engine import NoTable, Unmapped
from spark_jobs.sources.postgres import reader
from spark_jobs.sources.postgres.reader import Source
from spark_jobs.sources.postgres.types import SourceColumn
from spark_jobs.verify import RETRIES, Check

GONE = PySparkException("Job aborted: java.io.FileNotFoundException: No such file or directory: s3a://lake/a.parquet")
GONE_LOG = PySparkException("Job aborted: Caused by: java.lang.IllegalStateException: Block has already been inflated")
BROKEN = PySparkException("permission denied for table a")


class Stub:
    """A table whose looks end as they are told to; None: well."""

    def __init__(self, name: str, *ends: Exception | None) -> None:
        self.name, self.done, self.ends = name, False, list(ends)
        self.lags, self.given_s = False, list[float]()
        self.table = Namespace(database="shop", topic=name, engine="postgres", source_name=f"public.{name}")
        self.result: dict[str, Any] = {"equal": False, "rounds": 0, "differences": [], "unsettled": []}

    def begin(self, source: object, snapshot: object) -> None:
        pass

    def cover(self, ends: object, snapshot: object, deadline: Deadline) -> None:
        self.given_s.append(deadline.at - time.monotonic())
        if self.lags:
            raise NotCovered("slot lake_shop confirmed 0/1 of 0/2")

    def end(self) -> None:
        pass

    def look(self, snapshot: object) -> None:
        end = self.ends.pop(0)
        if end is not None:
            raise end
        self.done = self.result["equal"] = True

    def fail(self, where: str, detail: str) -> None:
        self.result["differences"].append({"where": where, "detail": detail})
        self.done = True


def checked(monkeypatch: pytest.MonkeyPatch, *stubs: Stub, timeout_s: float = 1) -> dict[str, Any]:
    """The result over a source and a lake that are there, with nothing in quarantine and no archive."""
    snapshot = Namespace(position="0/1", close=lambda: None, tables=lambda: ["public.other", "public.fine"])
    source = Namespace(snapshot=lambda: snapshot)
    monkeypatch.setattr(verify, "engine", lambda name: Namespace(source=lambda *_: source))
    monkeypatch.setattr(verify, "captured", lambda *_: {})
    args: Any = Namespace(jdbc_url="", user="", timeout_s=timeout_s)
    tables = [one.table for one in stubs]
    pipeline: Any = Namespace(tables=tables, kafka={}, quarantine={}, server=lambda database, url: url)
    spark: Any = None
    return Check(spark, pipeline, args).run(list[Any](stubs))


def test_a_table_that_cannot_be_compared_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    found = checked(
        monkeypatch,
        Stub("gone", NoTable("PostgreSQL has no table public.gone")),
        Stub("odd", Unmapped("column a has type box")),
        Stub("closed", BROKEN),
        Stub("fine", None),
    )
    told = {name: [one["where"] for one in table["differences"]] for name, table in found["tables"].items()}
    assert told == {"gone": ["source"], "odd": ["type map"], "closed": ["proof"], "fine": []}
    assert "permission denied" in found["tables"]["closed"]["differences"][0]["detail"]
    assert found["tables"]["fine"]["equal"] and not found["equal"]


@pytest.mark.parametrize("gone", [GONE, GONE_LOG])
@pytest.mark.parametrize(("times", "equal"), [(RETRIES, True), (RETRIES + 1, False)])
def test_a_file_that_the_cleaner_took_is_no_difference(
    monkeypatch: pytest.MonkeyPatch, gone: PySparkException, times: int, equal: bool
) -> None:
    assert checked(monkeypatch, Stub("a", *[gone] * times, None))["equal"] == equal


def test_a_message_in_quarantine_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spark_jobs.quarantine.table.missing_messages", lambda *_: ["offset 3 is missing"])
    found = checked(monkeypatch, Stub("a", None))
    assert found["tables"]["a"]["differences"] == [{"where": "quarantine", "detail": "offset 3 is missing"}]
    assert not found["tables"]["a"]["equal"] and not found["equal"]


def test_the_time_to_wait_is_given_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """When it was given to a stopped table, the next round of another one has a moment to show that it does not lag."""
    stopped, fine, other = Stub("stopped"), Stub("fine", GONE, None), Stub("other", None)
    stopped.lags, other.table.database = True, "zoo"
    found = checked(monkeypatch, stopped, fine, other, timeout_s=500)
    assert [round(seconds) for seconds in fine.given_s] == [500, verify.MOMENT_S]
    assert found["tables"]["fine"]["equal"] and found["tables"]["other"]["equal"]
    assert [one["where"] for one in found["tables"]["stopped"]["differences"]] == ["lake"]


def test_the_tables_that_nobody_compares_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert checked(monkeypatch, Stub("fine", None))["left_out"] == {"shop": ["public.other"]}


def test_a_source_that_does_not_answer_is_refused(spark: SparkSession) -> None:
    source = Source(spark, "jdbc:postgresql://127.0.0.1:1/shop", "lake_verify", "secret")
    with pytest.raises(Refused, match=r"no connection to jdbc:postgresql://127.0.0.1:1/shop: Connection to .* refused"):
        source.connect()


def test_a_slot_that_does_not_exist_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """`lake recover` gives the proof an hour, and nobody makes the slot meanwhile."""
    answer = MagicMock(**{"next.return_value": False})
    monkeypatch.setattr(
        Source, "connect", lambda _: MagicMock(**{"prepareStatement.return_value.executeQuery.return_value": answer})
    )
    monkeypatch.setattr(waiting, "time", Namespace(monotonic=time.monotonic, sleep=lambda _: pytest.fail("it waits")))
    source = Source(MagicMock(), "jdbc:postgresql://there/shop", "lake_verify", "secret", "lake_shop")
    with pytest.raises(NotCovered, match="there is no replication slot lake_shop, so nothing is captured"):
        source.wait_until_captured("0/1", Deadline(time.monotonic() + 3600))


def test_a_table_of_the_source_is_named_as_in_the_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else one that is captured would be named as left out."""
    names = [["public", "plain"], ["My Schema", "a.b"], ["public", 'a"b']]
    monkeypatch.setattr(reader, "rows_of", lambda _, query, *__: names if query == reader.TABLES else [["0/1"]])
    snapshot = reader.Snapshot(MagicMock())
    assert snapshot.tables() == ["public.plain", 'My Schema."a.b"', 'public."a""b"']


def test_a_small_table_is_compared_without_compiled_code(spark: SparkSession) -> None:
    small, large = Sessions(spark).of(SMALL_BYTES - 1), Sessions(spark).of(SMALL_BYTES)
    assert small.conf.get("spark.sql.codegen.wholeStage") == "false" and large is spark


def column(name: str, kind: str, is_array: bool = False) -> SourceColumn:
    return SourceColumn(name, kind, "b", 0, 0, is_array)


@pytest.mark.parametrize(
    ("first", "keys", "expected"),
    [
        (column("a", "numeric"), [["0E-8", "x"], ["1E-7", "y"]], "\"a\" IN ('0E-8', '1E-7')"),
        (column("a", "float8"), [["1.0E10", "x"]], "\"a\" IN ('1.0E10')"),
        (column("a", "text"), [["it's", "x"], ["\0", "x"]], "\"a\" IN ('it''s')"),
        (column("a", "timestamp"), [["microsecond 1", "x"]], "\"b\" IN ('x')"),  # not what PostgreSQL reads
        (column("a", "int4", is_array=True), [["[1]", "x"]], "\"b\" IN ('x')"),
        (column("a", "int4"), [[None, "x"]], "false"),
    ],
)
def test_keys_are_asked_for_by_their_value(first: SourceColumn, keys: list[Any], expected: str) -> None:
    table = Table("shop", "public", "t", "shop.public.t", 0, ("a", "b"), None, "soft", "full", ())
    few = [json.dumps(key) for key in keys]
    assert condition(table, [first, column("b", "text")], None) is None
    assert condition(table, [first, column("b", "text")], few) == expected
    assert condition(table, [column("a", "date"), column("b", "bytea")], few) is None


Look = Callable[[int, int], TableCheck]


@pytest.fixture
def make_look(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], Look]:
    """Of a table of which nothing is read: so many keys differ in a round, in rows of the lake of that order."""
    monkeypatch.setattr(table_check, "read_sides", lambda *_: [])
    monkeypatch.setattr(findings, "check_lake", lambda *_: {})
    monkeypatch.setattr(findings, "versions", lambda spark, table, pair, keys, sides: [{"key": key} for key in keys])
    table = Table("shop", "public", "t", "shop.public.t", 0, ("id",), None, "soft", "full", ())

    def begin(settle_s: float) -> Look:
        check = TableCheck(Sessions(spark), table, settle_s)

        def look(keys: int, order: int) -> TableCheck:
            rows = spark.range(keys).selectExpr(
                "'source = cow' AS pair",
                "CAST(id AS string) AS key",
                "'a' AS left",
                "'b' AS right",
                "CAST(NULL AS bigint) AS left_order",
                f"{order}L AS right_order",
            )
            monkeypatch.setattr(table_check, "differences", lambda sides: rows)
            columns = [column("id", "int4")]
            snapshot: Any = Namespace(position=f"0/{order}", columns=lambda name: columns, size=lambda name: 0)
            check.look(snapshot)
            return check

        return look

    return begin


def test_thousands_of_rows_settle_round_by_round(make_look: Callable[[float], Look]) -> None:
    look = make_look(60)
    for order, keys in enumerate((5000, 2000, 3), 1):
        check = look(keys, order)
        assert not check.done
        assert (check.few_keys and len(check.few_keys)) == (3 if keys == 3 else None)
    check = look(0, 4)
    assert check.done and check.result["equal"] and check.result["rounds"] == 4


def test_thousands_of_rows_that_stand_still_are_differences(make_look: Callable[[float], Look]) -> None:
    look = make_look(60)
    look(5000, 1)
    check = look(5000, 1)
    assert check.done and not check.result["equal"] and check.result["unsettled"] == []
    assert check.result["differences"][SHOWN]["detail"] == f"and {5000 - SHOWN} more keys"


def test_rows_that_never_rest_are_unsettled_when_the_time_is_over(make_look: Callable[[float], Look]) -> None:
    look = make_look(0)
    for order in (1, 2):
        check = look(1, order)
    assert check.done and not check.result["equal"] and check.result["differences"] == []
    assert check.result["unsettled"] == [{"key": "0"}]
