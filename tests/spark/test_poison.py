"""Which messages can become rows of a table, and why the others can't."""

from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from spark_jobs.events import decode, validate
from spark_jobs.kafka.schema_registry import UnknownSchema
from spark_jobs.parity.compare import PLACEHOLDER
from spark_jobs.runtime.pipeline import Table
from tests import poisoned
from tests.poisoned import (
    BARE,
    LARGE,
    LINE,
    OTHER,
    OURS,
    PAIR,
    PLAIN,
    PRICED,
    SCHEMAS,
    TEXT,
    TOLD,
    TOPIC,
    Schemas,
    batch,
    framed,
    message,
    too_large,
)

GOOD = message(OURS, id=1, name="a")
PRICE = "column price holds a value that DECIMAL(10,2) cannot hold: write another value in PostgreSQL"
GRID = (
    "column grid holds an array of several dimensions, or what is no array, which no ARRAY type can hold: "
    "write another value in PostgreSQL"
)
ELEMENT = "column grid holds a value that INT cannot hold: write another value in PostgreSQL"
ID = "column id holds a value that DECIMAL(6,0) cannot hold: write another value in PostgreSQL"
UNDECODABLE = "it can't be decoded with schema id 3, or its key is NULL"


def table(*keys: str) -> Table:
    return Table("lab", "public", "t", TOPIC, 0, keys or ("id",), None, "soft", "full", ())


def reasons(spark: SparkSession, *values: bytes, keys: tuple[str, ...] = (), **options: bool) -> list[Any]:
    registry: Any = Schemas()
    told = validate.annotate(batch(spark, *values), table(*keys), registry, **options)
    return [row["reason"] for row in told.orderBy("offset").collect()]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (bytes(range(200, 256)), "it does not begin with a zero and the id of a schema"),
        (b"", "it does not begin with a zero and the id of a schema"),
        (b"\x01" + GOOD[1:], "it does not begin with a zero and the id of a schema"),
        (framed(99, b"\x02"), "schema id 99 is not in the registry"),
        (message(OTHER, id=1, name="b"), "schema id 5 is that of lab.public.other.Value"),
        (framed(PLAIN, b"\x02a"), "schema id 8 is that of string"),
        (framed(BARE, b"\x02"), "schema id 9 has no __op, __deleted"),
        (GOOD[:5], UNDECODABLE),
        (GOOD[:-3], UNDECODABLE),
        (framed(OURS, b"\xff" * 40), UNDECODABLE),
        (framed(OURS, b"\x02\x02\xfe\xff\xff\xff\x0f" + b"x" * 20), UNDECODABLE),  # a text of 2 GB
    ],
)
def test_what_is_wrong(spark: SparkSession, value: bytes, reason: str) -> None:
    assert reasons(spark, GOOD, value, GOOD) == [None, reason, None]


@pytest.mark.parametrize("applied", [False, True])
def test_what_stands_for_a_row_that_was_too_large(spark: SparkSession, applied: bool) -> None:
    told = "the row with id=7 has 17000000 bytes, the limit is 16000000: make it smaller in PostgreSQL"
    values = GOOD, too_large("id=7"), framed(TOLD, b"\x02")
    assert reasons(spark, *values, applied=applied) == [None, told, UNDECODABLE.replace("3", "12")]


def test_an_empty_text_is_a_key_like_any_other(spark: SparkSession) -> None:
    assert reasons(spark, message(TEXT, id=""), message(TEXT, id=" ")) == [None, None]


def test_a_null_in_a_composite_key(spark: SparkSession) -> None:
    values = message(PAIR, id=1, part=None), message(PAIR, id=1, part="")
    assert reasons(spark, *values, keys=("id", "part")) == [
        "it can't be decoded with schema id 7, or its key is NULL",
        None,
    ]


VALUES = [
    (message(PRICED, id=1, price="1.50", grid=["1", None]), None),
    (message(PRICED, id=1), None),
    (message(PRICED, id=1, price="NAN"), PRICE),
    (message(PRICED, id=1, price="123456789.00", grid=["\0{{1,2},{3,4}}"]), PRICE),
    (message(PRICED, id=1, grid=["\0{{1,2},{3,4}}"]), GRID),
    (message(PRICED, id=1, grid=["1", None, "one"]), ELEMENT),
    (message(PRICED, id=1, price="NAN", grid=["one"], __deleted="true"), None),
    (message(LARGE, id="1", price=PLACEHOLDER, __unavailable=["price"]), None),
    (message(LARGE, id="1", price=PLACEHOLDER, __unavailable=["other"]), PRICE),
    (message(LARGE, id="1", price=PLACEHOLDER), PRICE),
    (message(LARGE, id="NAN"), ID),
    (message(LARGE, id="NAN", __deleted="true"), ID),
    (message(LARGE, id="1", __moved_from={"id": "2"}), None),
    (message(LARGE, id="1", __moved_from={"id": "NAN"}), ID),
]


def test_values_that_their_lake_types_refuse(spark: SparkSession) -> None:
    sent = [value for value, _ in VALUES]
    assert reasons(spark, GOOD, *sent, GOOD[:5]) == [None, *[reason for _, reason in VALUES], UNDECODABLE]
    assert reasons(spark, *sent, applied=False) == [None] * len(sent), "the archive takes them as they are"


@pytest.mark.parametrize(("value", "reason"), VALUES)
def test_a_message_is_bad_when_no_row_can_be_made_of_it(spark: SparkSession, value: bytes, reason: str | None) -> None:
    rows = decode.Decoder(SCHEMAS[int.from_bytes(value[1:5])], table()).rows(batch(spark, value))
    try:
        problem = None if rows.collect()[0]["id"] is not None else "no key"
    except Exception as error:  # Spark's, with Java's inside
        problem = str(error)
    assert (problem is None) == (reason is None), problem
    assert problem is None or problem == "no key" or str(reason) in problem


@pytest.mark.parametrize("applied", [False, True])
def test_a_tombstone_is_not_passed_over(spark: SparkSession, applied: bool) -> None:
    assert reasons(spark, GOOD, None, applied=applied) == [None, validate.NO_VALUE]  # type: ignore[arg-type]


def test_a_registry_that_lost_its_store_makes_no_message_bad() -> None:
    registry: Any = Schemas()
    registry.lost = True
    with pytest.raises(UnknownSchema, match=r"subject lab\.public\.t-value"):
        validate.own_schema(registry, OURS, table())


def test_the_schema_of_an_own_message() -> None:
    registry: Any = Schemas()
    assert validate.own_schema(registry, OURS, table()) == SCHEMAS[OURS]
    assert poisoned.record(("id", "int"))["namespace"] == TOPIC


@pytest.mark.parametrize(
    ("operation", "why"),
    [("u", "it updates a row"), ("d", "it deletes a row"), ("r", "it is a row of a snapshot that was interrupted")],
)
def test_what_names_no_row_is_refused_and_said(spark: SparkSession, operation: str, why: str) -> None:
    registry: Any = Schemas()
    good = message(LINE, line="x", __row="00000000000000ff-1", __op="c")
    bad = message(LINE, line="y", __row=None, __op=operation, __deleted=str(operation == "d").lower())
    append = replace(table("__row"), without_key="append")
    told = validate.annotate(batch(spark, good, bad), append, registry).orderBy("offset").collect()
    assert [(row["reason"] or "")[: len(why)] for row in told] == ["", why]
