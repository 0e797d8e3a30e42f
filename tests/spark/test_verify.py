"""The proof of several tables: what one of them does is not the others' fault, and it asks for keys as they are."""

import json
from argparse import Namespace
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from spark_jobs import verify
from spark_jobs.kafka import admin
from spark_jobs.parity import catch_up, table_check
from spark_jobs.parity.table_check import SHOWN, TableProof
from spark_jobs.runtime.batch_job import Refused
from spark_jobs.runtime.pipeline import Table
from spark_jobs.sources.postgres.reader import NoTable, Source
from spark_jobs.sources.postgres.types import SourceColumn, Unmapped
from spark_jobs.verify import RETRIES, Proof

GONE = PySparkException("Job aborted: java.io.FileNotFoundException: No such file or directory: s3a://lake/a.parquet")
BROKEN = PySparkException("permission denied for table a")


class Stub:
    """A table whose looks end as they are told to; None: well."""

    def __init__(self, name: str, *ends: Exception | None) -> None:
        self.name, self.done, self.ends = name, False, list(ends)
        self.table = Namespace(database="shop", topic=name)
        self.result: dict[str, Any] = {"equal": False, "rounds": 0, "differences": [], "unsettled": []}

    def begin(self, moment: object) -> None:
        pass

    def end(self) -> None:
        pass

    def look(self, moment: object) -> None:
        end = self.ends.pop(0)
        if end is not None:
            raise end
        self.done = self.result["equal"] = True

    def fail(self, where: str, detail: str) -> None:
        self.result["differences"].append({"where": where, "detail": detail})
        self.done = True


@pytest.fixture
def proof(monkeypatch: pytest.MonkeyPatch) -> Proof:
    """Over a source and a lake that are there, with nothing in quarantine."""
    monkeypatch.setattr(verify, "source_of", lambda *_: None)
    monkeypatch.setattr(verify, "Moment", lambda source: Namespace(lsn="0/1", close=lambda: None))
    monkeypatch.setattr(catch_up, "wait_for_slot", lambda *_: None)
    monkeypatch.setattr(catch_up, "wait_for_targets", lambda *_: None)
    monkeypatch.setattr(admin, "topic_offsets", lambda *_: Namespace(end={}))
    monkeypatch.setattr(Proof, "_check_quarantine", lambda *_: None)
    args: Any = Namespace(jdbc_url="", user="", timeout_s=1, tables="")
    pipeline: Any = Namespace(tables=())
    return Proof(None, pipeline, args)  # type: ignore[arg-type]


def test_a_table_that_cannot_be_compared_fails_alone(proof: Proof) -> None:
    proof.proofs = [  # type: ignore[assignment]
        Stub("gone", NoTable("PostgreSQL has no table public.gone")),
        Stub("odd", Unmapped("column a has type box")),
        Stub("closed", BROKEN),
        Stub("fine", None),
    ]
    found = proof.run()
    told = {name: [one["where"] for one in table["differences"]] for name, table in found["tables"].items()}
    assert told == {"gone": ["source"], "odd": ["type map"], "closed": ["proof"], "fine": []}
    assert "permission denied" in found["tables"]["closed"]["differences"][0]["detail"]
    assert found["tables"]["fine"]["equal"] and not found["equal"]


@pytest.mark.parametrize(("times", "equal"), [(RETRIES, True), (RETRIES + 1, False)])
def test_a_file_that_the_cleaner_took_is_no_difference(proof: Proof, times: int, equal: bool) -> None:
    proof.proofs = [Stub("a", *[GONE] * times, None)]  # type: ignore[list-item]
    assert proof.run()["equal"] == equal


def test_a_source_that_does_not_answer_is_refused(spark: SparkSession) -> None:
    source = Source(spark, "jdbc:postgresql://127.0.0.1:1/shop", "lake_verify", "secret")
    with pytest.raises(Refused, match=r"no connection to jdbc:postgresql://127.0.0.1:1/shop: Connection to .* refused"):
        source.connect()


def column(name: str, kind: str, is_array: bool = False) -> SourceColumn:
    return SourceColumn(name, kind, "b", 0, 0, is_array)


@pytest.mark.parametrize(
    ("first", "keys", "condition"),
    [
        (column("a", "numeric"), [["0E-8", "x"], ["1E-7", "y"]], "\"a\" IN ('0E-8', '1E-7')"),
        (column("a", "float8"), [["1.0E10", "x"]], "\"a\" IN ('1.0E10')"),
        (column("a", "text"), [["it's", "x"], ["\0", "x"]], "\"a\" IN ('it''s')"),
        (column("a", "timestamp"), [["microsecond 1", "x"]], "\"b\" IN ('x')"),  # not what PostgreSQL reads
        (column("a", "int4", is_array=True), [["[1]", "x"]], "\"b\" IN ('x')"),
        (column("a", "int4"), [[None, "x"]], "false"),
    ],
)
def test_keys_are_asked_for_by_their_value(first: SourceColumn, keys: list[Any], condition: str) -> None:
    table = Table("shop", "public", "t", "shop.public.t", 0, ("a", "b"), None, "soft", "full", ())
    proof = TableProof(None, table, 1)  # type: ignore[arg-type]
    assert proof._condition([first, column("b", "text")]) is None
    proof._few = [json.dumps(key) for key in keys]
    assert proof._condition([first, column("b", "text")]) == condition
    assert proof._condition([column("a", "date"), column("b", "bytea")]) is None


@pytest.fixture
def table(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> TableProof:
    """A table of which nothing is read: each round differs as different() says."""
    monkeypatch.setattr(TableProof, "_columns", lambda *_: [])
    monkeypatch.setattr(TableProof, "_read", lambda *_: None)
    monkeypatch.setattr(TableProof, "_check_lake", lambda *_: {})
    monkeypatch.setattr(TableProof, "_versions", lambda _, pair, keys, sides: [{"key": key} for key in keys])
    return TableProof(spark, Table("shop", "public", "t", "shop.public.t", 0, ("id",), None, "soft", "full", ()), 60)


def looked(proof: TableProof, monkeypatch: pytest.MonkeyPatch, keys: int, order: int) -> None:
    """A round in which so many keys differ, in rows of the lake of that order."""
    rows = proof._spark.range(keys).selectExpr(
        "'source = cow' AS pair",
        "CAST(id AS string) AS key",
        "'a' AS left",
        "'b' AS right",
        "CAST(NULL AS bigint) AS left_order",
        f"{order}L AS right_order",
    )
    monkeypatch.setattr(table_check, "differences", lambda sides: rows)
    moment: Any = Namespace(lsn=f"0/{order}")
    proof.look(moment)


def test_thousands_of_rows_settle_round_by_round(table: TableProof, monkeypatch: pytest.MonkeyPatch) -> None:
    left = []
    for order, keys in enumerate((5000, 2000, 3), 1):
        looked(table, monkeypatch, keys, order)
        assert not table.done and table._keys is not None
        left.append((table._keys.count(), table._few and len(table._few)))
    assert left == [(5000, None), (2000, None), (3, 3)]
    looked(table, monkeypatch, 0, 4)
    assert table.done and table.result["equal"] and table.result["rounds"] == 4


def test_thousands_of_rows_that_stand_still_are_differences(table: TableProof, monkeypatch: pytest.MonkeyPatch) -> None:
    looked(table, monkeypatch, 5000, 1)
    looked(table, monkeypatch, 5000, 1)
    assert table.done and not table.result["equal"] and table.result["unsettled"] == []
    assert table.result["differences"][SHOWN]["detail"] == f"and {5000 - SHOWN} more keys"


def test_rows_that_never_rest_are_unsettled_when_the_time_is_over(
    table: TableProof, monkeypatch: pytest.MonkeyPatch
) -> None:
    table._settle_s = 0
    for order in (1, 2):
        looked(table, monkeypatch, 1, order)
    assert table.done and not table.result["equal"] and table.result["differences"] == []
    assert table.result["unsettled"] == [{"key": "0"}]
