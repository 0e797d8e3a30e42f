"""Messages of several forms become the same flat records: rows, envelopes, and JSON."""

import io
import struct
from dataclasses import replace
from typing import Any

import fastavro
import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.types import StructType

from spark_jobs.events import decode, message_form, validate
from spark_jobs.events.batch import summarize
from spark_jobs.events.declared_schema import DeclaredSchema
from spark_jobs.events.decode_and_fit import Stored, decode_and_fit
from spark_jobs.events.writer_schemas import WriterSchemas
from spark_jobs.kafka.schema_registry import UnknownSchema
from tests.source_table import table

TOPIC = "lab.public.t"
DATE = {"type": "int", "connect.name": "io.debezium.time.Date"}
VALUE = {
    "type": "record",
    "name": "Value",
    "fields": [
        {"name": "id", "type": "int"},
        {"name": "note", "type": ["null", "string"], "default": None},
        {"name": "day", "type": ["null", DATE], "default": None},
    ],
}
SOURCE = {
    "type": "record",
    "name": "Source",
    "namespace": "io.debezium.connector.postgresql",
    "fields": [
        *({"name": name, "type": "string"} for name in ("version", "db", "schema", "table")),
        {"name": "ts_ms", "type": "long"},
        {"name": "lsn", "type": ["null", "long"]},
    ],
}
KEY = {"type": "record", "name": "Key", "namespace": TOPIC, "fields": [{"name": "id", "type": "int"}]}
LAST: list[dict[str, Any]] = [
    {"name": "__run", "type": ["null", "long"]},
    {"name": "__unavailable", "type": ["null", {"type": "array", "items": "string"}]},
    {"name": "__moved_from", "type": ["null", KEY]},
]
ENVELOPE: dict[str, Any] = {
    "type": "record",
    "name": "Envelope",
    "namespace": TOPIC,
    "fields": [
        {"name": "before", "type": ["null", VALUE], "default": None},
        {"name": "after", "type": ["null", "Value"], "default": None},
        {"name": "source", "type": SOURCE},
        {"name": "op", "type": "string"},
        {"name": "ts_ms", "type": ["null", "long"]},
        *LAST,
    ],
}
FLAT_FIELDS = [
    *VALUE["fields"],  # type: ignore[misc]
    *({"name": name, "type": "string"} for name in ("__deleted", "__op", "__db", "__table", "__schema")),
    {"name": "__lsn", "type": ["null", "long"]},
    {"name": "__source_ts_ms", "type": ["null", "long"]},
    *LAST,
]
FLAT = {"type": "record", "name": "Value", "namespace": TOPIC, "fields": FLAT_FIELDS}
FACTS = {"__deleted": "false", "__op": "c", "__db": "lab", "__table": "t", "__schema": "public"}
SCHEMAS = {7: ENVELOPE, 8: FLAT}


class Known:
    def schema(self, schema_id: int) -> dict[str, Any]:
        if schema_id not in SCHEMAS:
            raise UnknownSchema(str(schema_id))
        return SCHEMAS[schema_id]

    def require(self, subject: str) -> list[int]:
        return [1]


REGISTRY: Any = Known()


def framed(writer: int, record: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(SCHEMAS[writer]), record)
    return struct.pack(">bI", 0, writer) + out.getvalue()


def envelope(op: str, before: Any = None, after: Any = None, **last: Any) -> bytes:
    source = {"version": "3", "db": "lab", "schema": "public", "table": "t", "ts_ms": 1700, "lsn": 42}
    rest = {"op": op, "ts_ms": 1701, "__run": 5, "__unavailable": None, "__moved_from": None, **last}
    return framed(7, {"before": before, "after": after, "source": source, **rest})


def row(**values: Any) -> dict[str, Any]:
    return {"note": None, "day": None, **values}


def messages(spark: SparkSession, *values: bytes) -> DataFrame:
    rows = [(0, offset, b"key", value) for offset, value in enumerate(values)]
    return spark.createDataFrame(rows, "partition int, offset long, key binary, value binary")


def rows_of(spark: SparkSession, *values: bytes) -> list[Row]:
    schemas = WriterSchemas(REGISTRY, table())
    batch = summarize(messages(spark, *values), schemas)
    stored = Stored("t", StructType([]), {})
    return list(decode_and_fit(batch, schemas, stored).orderBy("_order").collect())


def test_an_envelope_becomes_the_row_that_unwrap_makes(spark: SparkSession) -> None:
    values = [
        envelope("r", after=row(id=1, note="a", day=19000)),
        envelope("u", before=row(id=1, note="a", day=19000), after=row(id=1, note="b")),
        envelope("d", before=row(id=1, note="b")),
    ]
    found = rows_of(spark, *values)
    assert [(one.id, one.note, one["__op"], one["__deleted"]) for one in found] == [
        (1, "a", "r", "false"),
        (1, "b", "u", "false"),
        (1, "b", "d", "true"),
    ]
    assert str(found[0].day) == "2022-01-08"  # a date, by what the schema of the row says
    first = found[0].asDict()
    expected = {"__db": "lab", "__schema": "public", "__table": "t", "__lsn": 42, "__source_ts_ms": 1700, "_order": 0}
    assert {name: first[name] for name in expected} == expected


def test_the_columns_are_those_of_flat_messages(spark: SparkSession) -> None:
    flat = framed(8, {**row(id=2), **FACTS})
    both = messages(spark, envelope("c", after=row(id=1)), flat)
    of_envelope = decode.Decoder(message_form.flat(ENVELOPE), table()).rows(both)
    of_row = decode.Decoder(FLAT, table()).rows(both)
    assert of_envelope.dtypes == of_row.dtypes


def test_a_topic_may_turn_from_envelopes_to_rows(spark: SparkSession) -> None:
    """As when unwrap is added to a connector that runs: each message is read by its own writer."""
    later = framed(8, {**row(id=1, note="later"), **FACTS, "__op": "u"})
    found = rows_of(spark, envelope("c", after=row(id=1, note="first")), later)
    assert [(one.note, one["__op"]) for one in found] == [("first", "c"), ("later", "u")]


def test_the_facts_of_a_batch_are_read_from_envelopes(spark: SparkSession) -> None:
    left = envelope("u", after=row(id=1, note="x"), __unavailable=["note"])
    batch = summarize(messages(spark, envelope("r", after=row(id=1)), left), WriterSchemas(REGISTRY, table()))
    (facts,) = batch.partitions
    assert (facts["lsn"], facts["changes"], facts["generations"], facts["streaming"]) == (42, 1, ["5"], ["5"])
    assert batch.left_out == ["note"]


@pytest.mark.parametrize("value", [struct.pack(">bI", 0, 7) + b"rubbish", b"rubbish", struct.pack(">bI", 0, 9)])
def test_what_is_no_envelope_is_a_bad_message(spark: SparkSession, value: bytes) -> None:
    found = validate.annotate(messages(spark, envelope("c", after=row(id=1)), value), table(), REGISTRY).collect()
    assert [one["reason"] is None for one in sorted(found, key=lambda one: one["offset"])] == [True, False]


def test_an_envelope_of_another_table_is_a_bad_message() -> None:
    class Other:
        def schema(self, _: int) -> dict[str, Any]:
            return {**ENVELOPE, "namespace": "lab.public.other"}

        def require(self, _: str) -> list[int]:
            return [1]

    other: Any = Other()
    with pytest.raises(validate.UnknownWriter, match=r"is that of lab\.public\.other\.Value"):
        validate.own_schema(other, 7, table())


RAW = {"name": "raw", "type": ["null", "bytes"]}
AVSC = {"type": "record", "name": "Value", "fields": [*VALUE["fields"], RAW]}  # type: ignore[misc]
JSON_TABLE = replace(table(), format="json", avsc=AVSC)


def framed_json(text: str) -> bytes:
    return b"\x00\x00\x00\x00\x00" + text.encode()


def test_json_becomes_the_row_that_its_declared_schema_says(spark: SparkSession) -> None:
    schemas = WriterSchemas(DeclaredSchema(JSON_TABLE), JSON_TABLE)
    text = '{"id":1,"note":"ä","day":19000,"raw":"AP8=","__op":"u","__deleted":"false","__lsn":7,"__run":3}'
    batch = summarize(messages(spark, framed_json(text), framed_json('{"id":2,"__op":"r"}')), schemas)
    (facts,) = batch.partitions
    assert (facts["lsn"], facts["generations"]) == (7, ["3"])
    stored = Stored("t", StructType([]), {})
    first, second = decode_and_fit(batch, schemas, stored).orderBy("_order").collect()
    assert (first.id, first.note, str(first.day), bytes(first.raw)) == (1, "ä", "2022-01-08", b"\x00\xff")
    assert (first["__op"], first["__lsn"], first["_order"]) == ("u", 7, 0)
    assert (second.id, second.note, second["__lsn"], second["_order"]) == (2, None, None, 1)


@pytest.mark.parametrize("text", ["rubbish", '{"id":1,"day":"soon"}', '{"note":"no key"}', ""])
def test_json_that_is_not_as_declared_is_a_bad_message(spark: SparkSession, text: str) -> None:
    both = messages(spark, framed_json('{"id":1,"__op":"r"}'), framed_json(text))
    found = validate.annotate(both, JSON_TABLE, DeclaredSchema(JSON_TABLE)).orderBy("offset").collect()
    assert [one["reason"] is None for one in found] == [True, False]


def test_a_notice_in_json_says_what_was_too_large(spark: SparkSession) -> None:
    notice = messages(spark, framed_json('{"key":"id=7","bytes":9000,"limit":100}'))
    (found,) = validate.annotate(notice, JSON_TABLE, DeclaredSchema(JSON_TABLE)).collect()
    assert found["reason"] == "the row with id=7 has 9000 bytes, the limit is 100: make it smaller in PostgreSQL"
