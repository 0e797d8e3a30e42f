"""The type map: decoded Avro columns become lake columns, exactly or not at all."""

import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lake.sources.postgres.types import MAPPED
from spark_jobs.events import toast
from spark_jobs.sources.columns import lake_columns
from spark_jobs.sources.engine import Unmapped
from spark_jobs.sources.postgres.avro_types import SOURCE, converted, numeric_type
from spark_jobs.sources.postgres.types import PG_TYPES, SourceColumn, pg_type

ROOT = Path(__file__).resolve().parents[2]
LONG_MAX = 2**63 - 1


def avro(kind: Any, name: str = "", source: str = "", length: str = "0", scale: str = "0", **extra: str) -> Any:
    parameters = {SOURCE + "type": source, SOURCE + "length": length, SOURCE + "scale": scale, **extra}
    shape = kind if isinstance(kind, dict) else {"type": kind}
    return ["null", {**shape, "connect.name": name, "connect.parameters": parameters}]


TEXTS = {"type": "array", "items": ["null", "string"]}
TIME = "io.debezium.time."

# Avro field type, Spark type of the decoded column, its value, lake type, lake value as text.
DECODED = [
    (avro("int", TIME + "Date"), "int", 19782, "date", "2024-02-29"),
    (avro("int", TIME + "Date"), "int", -735160, "date", "-0043-03-15"),
    (avro("int", TIME + "Time"), "int", 86400000, "string", "24:00:00"),
    (avro("int", TIME + "Time"), "int", 1, "string", "00:00:00.001"),
    (avro("long", TIME + "MicroTime"), "long", 45296000001, "string", "12:34:56.000001"),
    (avro("long", TIME + "Timestamp"), "long", -1, "timestamp", "1969-12-31 23:59:59.999"),
    (avro("long", TIME + "MicroTimestamp"), "long", 1, "timestamp", "1970-01-01 00:00:00.000001"),
    (
        avro("string", TIME + "ZonedTimestamp"),
        "string",
        "2024-10-27T00:30:00.5Z",
        "timestamp",
        "2024-10-27 00:30:00.5",
    ),
    (
        avro("string", TIME + "ZonedTimestamp"),
        "string",
        "-0043-03-15T12:00:00Z",
        "timestamp",
        "-0043-03-15 12:00:00",
    ),
    (avro("string", "", "NUMERIC", "12", "2"), "string", "-9999999999.99", "decimal(12,2)", "-9999999999.99"),
    (avro("string", "", "NUMERIC", "5", "2046"), "string", "9999900.000", "decimal(7,0)", "9999900"),
    (avro("string", "", "NUMERIC", "0"), "string", "NAN", "string", "NaN"),
    (avro("string", "", "NUMERIC", "0"), "string", "1.500", "string", "1.500"),
    (avro("string", "", "NUMERIC", "50", "5"), "string", "9" * 45 + ".00000", "string", "9" * 45 + ".00000"),
    (avro("string", "", "MONEY"), "string", "92233720368547758.07", "decimal(19,2)", "92233720368547758.07"),
    (avro("bytes", "", "PG_LSN"), "binary", bytearray(b"16/B374D848"), "string", "16/B374D848"),
    (avro("bytes", "", "BYTEA"), "binary", bytearray(b"raw"), "binary", "raw"),
    (avro(TEXTS, "", "_INT4"), "array<string>", ["1", None, "-3"], "array<int>", "[1, null, -3]"),
    (avro(TEXTS, "", "_MONEY"), "array<string>", ["-$1,234.50", None], "array<string>", "[-1234.50, null]"),
    (avro(TEXTS, "", "_BOOL"), "array<string>", ["t", None], "array<boolean>", "[true, null]"),
    (avro(TEXTS, "", "_FLOAT8"), "array<string>", ["NaN", "1e-300"], "array<double>", "[NaN, 1.0E-300]"),
    (avro(TEXTS, "", "_NUMERIC", "12", "2"), "array<string>", ["1.10"], "array<string>", "[1.10]"),
    (avro(TEXTS, "", "_DATE"), "array<string>", ["0044-03-15 BC"], "array<date>", "[-0043-03-15]"),
    (
        avro(TEXTS, "", "_TIMESTAMPTZ"),
        "array<string>",
        ["2024-10-27 00:30:00.5+00"],
        "array<timestamp>",
        "[2024-10-27 00:30:00.5]",
    ),
    (avro(TEXTS, "", "_TEXT"), "array<string>", ["a,b", None, ""], "array<string>", "[a,b, null, ]"),
    (avro(TEXTS, "", "_BYTEA"), "array<string>", ["\\x6162"], "array<binary>", "[ab]"),
]


@pytest.mark.parametrize("shape, kind, value, lake, text", DECODED)
def test_a_decoded_value_becomes_its_lake_value(
    spark: SparkSession, shape: Any, kind: str, value: Any, lake: str, text: str
) -> None:
    schema = {"fields": [{"name": "c", "type": shape}, {"name": "absent", "type": shape}]}
    row = spark.createDataFrame([((value, None),)], f"row struct<c {kind}, absent {kind}>")
    lake_row = row.selectExpr(*lake_columns(schema, "row", converted))
    assert [kind for _, kind in lake_row.dtypes] == [lake, lake]
    found = lake_row.select(F.col("c").cast("string"), "absent").first()
    assert found is not None and found["absent"] is None
    assert found["c"] == text
    assert reason(row, schema) is None


def reason(row: DataFrame, schema: dict[str, Any], *keys: str) -> str | None:
    """Why no row can be made of it."""
    found = row.selectExpr(toast.unrepresentable(schema, "row", keys, converted)).first()
    return found[0] if found else "no row"


@pytest.mark.parametrize(
    "bits, length, text",
    [
        (b"", 10, "0000000000"),
        (b"\x01", 10, "0000000001"),
        (b"\xff\x03", 10, "1111111111"),
        (b"\x05", 3, "101"),
    ],
)
def test_bit_strings_keep_their_length(spark: SparkSession, bits: bytes, length: int, text: str) -> None:
    schema = {"fields": [{"name": "c", "type": avro("bytes", "io.debezium.data.Bits", "BIT", length=str(length))}]}
    schema["fields"][0]["type"][1]["connect.parameters"]["length"] = str(length)
    row = spark.createDataFrame([((bytearray(bits),),)], "row struct<c binary>")
    assert row.selectExpr(*lake_columns(schema, "row", converted)).collect()[0]["c"] == text


UNFIT = [
    (avro("string", "", "NUMERIC", "10", "2"), "string", "NAN", "column c holds a value that DECIMAL"),
    (avro("string", "", "NUMERIC", "10", "2"), "string", "POSITIVE_INFINITY", "that DECIMAL(10,2) cannot hold"),
    (avro("string", "", "NUMERIC", "10", "2"), "string", "123456789.00", "that DECIMAL(10,2) cannot hold"),
    (avro("string", "", "MONEY"), "string", "1.234,50 €", "that DECIMAL(19,2) cannot hold"),
    (avro("string", "", "INT4"), "string", "one", "that INT cannot hold"),
    (
        avro("string", TIME + "ZonedTimestamp"),
        "string",
        "+294276-12-31T23:59:59Z",
        "that TIMESTAMP cannot hold",
    ),
    (avro("long", TIME + "MicroTimestamp"), "long", -9223372036853775810, "that TIMESTAMP cannot hold"),
    (avro("long", TIME + "Timestamp"), "long", 9224318015999999, "that TIMESTAMP cannot hold"),
    (avro(TEXTS, "", "_INT4"), "array<string>", ["\0{{1,2},{3,4}}"], "array of several dimensions"),
    (avro(TEXTS, "", "_TEXT"), "array<string>", ["\0{{a},{b}}"], "array of several dimensions"),
    (avro(TEXTS, "", "_MONEY"), "array<string>", ["1.234,50 €"], "that DECIMAL(19,2) cannot hold"),
    (avro(TEXTS, "", "_INT4"), "array<string>", ["one"], "column c holds a value that INT"),
    (avro(TEXTS, "", "_INT4"), "array<string>", ["1", None, "99999999999"], "that INT cannot hold"),
    (avro(TEXTS, "", "_FLOAT8"), "array<string>", ["NaN", "nothing"], "that DOUBLE cannot hold"),
    (avro(TEXTS, "", "_TIMESTAMP"), "array<string>", [None, "294276-12-31 23:59:59"], "that TIMESTAMP cannot hold"),
]


@pytest.mark.parametrize("shape, kind, value, message", UNFIT)
def test_a_value_that_the_lake_type_cannot_hold_stops_the_query(
    spark: SparkSession, shape: Any, kind: str, value: Any, message: str
) -> None:
    row = spark.createDataFrame([((value,),)], f"row struct<c {kind}>")
    schema = {"fields": [{"name": "c", "type": shape}]}
    told = reason(row, schema) or "none"
    assert message in told
    with pytest.raises(Exception, match=re.escape(told)):
        row.selectExpr(*lake_columns(schema, "row", converted)).collect()


@pytest.mark.parametrize("shape, kind, value, message", UNFIT)
def test_a_deleted_row_keeps_what_fits(spark: SparkSession, shape: Any, kind: str, value: Any, message: str) -> None:
    """Not the rest of an array: no value is shown that never was."""
    schema = {"fields": [{"name": "c", "type": shape}, {"name": "__deleted", "type": "string"}]}
    gone, there = (
        spark.createDataFrame([((value, deleted),)], f"row struct<c {kind}, __deleted string>")
        for deleted in ("true", "false")
    )
    assert gone.selectExpr(*lake_columns(schema, "row", converted)).collect() == [(None, "true")]
    assert reason(gone, schema) is None
    for told in (reason(there, schema), reason(gone, schema, "c")):
        assert told is not None and message in told


INFINITE = [
    (avro("long", TIME + "MicroTimestamp"), "long", LONG_MAX, "timestamp", "infinity"),
    (avro("long", TIME + "MicroTimestamp"), "long", -LONG_MAX - 1, "timestamp", "-infinity"),
    (avro("long", TIME + "Timestamp"), "long", 9223372036825200000, "timestamp", "infinity"),
    (avro("string", TIME + "ZonedTimestamp"), "string", "-infinity", "timestamptz", "-infinity"),
    (avro("int", TIME + "Date"), "int", 2**31 - 1, "date", "infinity"),
    (avro("int", TIME + "Date"), "int", -(2**31), "date", "-infinity"),
    (avro("int", TIME + "Date"), "int", 2145042905, "date", "day 2145042905"),
    (avro("long", TIME + "MicroTimestamp"), "long", LONG_MAX - 1, "timestamp", f"microsecond {LONG_MAX - 1}"),
]


@pytest.mark.parametrize("shape, kind, value, source, text", INFINITE)
def test_infinity_is_no_finite_value(
    spark: SparkSession, shape: Any, kind: str, value: Any, source: str, text: str
) -> None:
    row = spark.createDataFrame([((value,),)], f"row struct<c {kind}>")
    schema = {"fields": [{"name": "c", "type": shape}]}
    lake_row = row.selectExpr(*lake_columns(schema, "row", converted))
    assert reason(row, schema) is None
    assert lake_row.select(PG_TYPES[source].text(F.col("c"))).collect()[0][0] == text


@pytest.mark.parametrize(
    "precision, scale, lake",
    [
        (12, 2, "decimal(12,2)"),
        (38, 10, "decimal(38,10)"),
        (39, 0, "string"),
        (0, 0, "string"),
        (5, -2, "decimal(7,0)"),
        (3, 5, "decimal(5,5)"),
        (131089, 0, "string"),
    ],
)
def test_a_numeric_is_a_decimal_where_one_can_hold_it(precision: int, scale: int, lake: str) -> None:
    assert numeric_type(precision, scale) == lake


def test_source_texts_of_numbers_meet_the_lake_in_one_text(spark: SparkSession) -> None:
    texts = spark.createDataFrame([("1e+16", "0.00", "NaN")], "f string, d string, n string")
    decimal = pg_type(SourceColumn("d", "numeric", "b", 12, 10, False))
    row = texts.select(
        PG_TYPES["float8"].source(F.col("f")) == PG_TYPES["float8"].text(F.lit(1e16)),
        decimal.source(F.col("d")) == decimal.text(F.lit("0.00").cast(decimal.lake)),
        decimal.source(F.col("n")),
    ).collect()[0]
    assert list(row) == [True, True, "NaN"]


def test_an_unknown_type_is_refused_by_the_name_of_its_column() -> None:
    with pytest.raises(Unmapped, match="column shape has type regclass"):
        pg_type(SourceColumn("shape", "regclass", "b", 0, 0, False))


@pytest.mark.parametrize(
    ("kind", "is_array", "dimensions", "lake"),
    [
        ("c", False, 0, "string"),
        ("r", False, 0, "string"),
        ("c", True, 1, "array<string>"),
        ("d", True, 1, "array<string>"),
        ("b", True, 1, "array<int>"),
        ("b", True, 2, "string"),
    ],
)
def test_what_a_person_made_is_its_text(kind: str, is_array: bool, dimensions: int, lake: str) -> None:
    assert pg_type(SourceColumn("c", "int4", kind, 0, 0, is_array, dimensions)).lake == lake


def test_lake_apply_knows_the_same_types() -> None:
    assert set(PG_TYPES) | {"numeric"} == MAPPED


def test_the_page_lists_the_map() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|", (ROOT / "docs" / "types.md").read_text(), re.MULTILINE)
    listed = {name: lake for names, lake in rows for name in names.split(", ")}
    assert listed == {name: entry.lake for name, entry in PG_TYPES.items()}
