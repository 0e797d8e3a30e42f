"""Which messages can become rows of a table, and why the others can't."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from spark_jobs import poison
from spark_jobs.pipeline import Table
from spark_jobs.registry import UnknownSchema
from tests import poisoned
from tests.poisoned import BARE, OTHER, OURS, PAIR, PLAIN, SCHEMAS, TEXT, TOPIC, Schemas, batch, framed, message

GOOD = message(OURS, id=1, name="a")
UNDECODABLE = "it can't be decoded with schema id 3, or its key is NULL"


def table(*keys: str) -> Table:
    return Table("lab", "public", "t", TOPIC, 0, keys or ("id",), None, "soft", "full", ())


def reasons(spark: SparkSession, *values: bytes, keys: tuple[str, ...] = (), **options: bool) -> list[Any]:
    registry: Any = Schemas()
    told = poison.tagged(batch(spark, *values), table(*keys), registry, **options)
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
        (framed(BARE, b"\x02"), "schema id 9 lacks __op, __deleted"),
        (GOOD[:5], UNDECODABLE),
        (GOOD[:-3], UNDECODABLE),
        (framed(OURS, b"\xff" * 40), UNDECODABLE),
        (framed(OURS, b"\x02\x02\xfe\xff\xff\xff\x0f" + b"x" * 20), UNDECODABLE),  # a text of 2 GB
    ],
)
def test_what_is_wrong(spark: SparkSession, value: bytes, reason: str) -> None:
    assert reasons(spark, GOOD, value, GOOD) == [None, reason, None]


def test_a_key_that_hudi_refuses(spark: SparkSession) -> None:
    values = message(TEXT, id=""), message(TEXT, id=" ")
    assert reasons(spark, *values) == ["its key is an empty text, which Hudi refuses", None]
    assert reasons(spark, *values, applied=False) == [None, None]


def test_a_null_in_a_composite_key(spark: SparkSession) -> None:
    values = message(PAIR, id=1, part=None), message(PAIR, id=1, part="")
    assert reasons(spark, *values, keys=("id", "part")) == [
        "it can't be decoded with schema id 7, or its key is NULL",
        None,
    ]


def test_a_tombstone_is_no_message(spark: SparkSession) -> None:
    assert reasons(spark, GOOD, None) == [None]  # type: ignore[arg-type]


def test_a_registry_that_lost_its_store_makes_no_message_bad() -> None:
    registry: Any = Schemas()
    registry.lost = True
    with pytest.raises(UnknownSchema, match=r"subject lab\.public\.t-value"):
        poison.own_schema(registry, OURS, table())


def test_the_schema_of_an_own_message() -> None:
    registry: Any = Schemas()
    assert poison.own_schema(registry, OURS, table()) == SCHEMAS[OURS]
    assert poisoned.record(("id", "int"))["namespace"] == TOPIC
