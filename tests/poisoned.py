"""Messages, good and bad, of a topic lab.public.t, and a registry that knows some schemas."""

import io
import struct
from typing import Any

import fastavro
from pyspark.sql import DataFrame, SparkSession

from spark_jobs.kafka.schema_registry import UnknownSchema
from spark_jobs.sources.postgres.avro_types import SOURCE

TOPIC = "lab.public.t"
ADDED = ("__op", "string"), ("__lsn", "long"), ("__source_ts_ms", "long"), ("__deleted", "string")


def record(*fields: tuple[str, Any], namespace: str = TOPIC) -> dict[str, Any]:
    named = [{"name": name, "type": kind} for name, kind in (*fields, *ADDED)]
    return {"type": "record", "name": "Value", "namespace": namespace, "fields": named}


def numeric(precision: int, scale: int) -> list[Any]:
    """A numeric column as the connector declares it."""
    parameters = {SOURCE + "type": "NUMERIC", SOURCE + "length": str(precision), SOURCE + "scale": str(scale)}
    return ["null", {"type": "string", "connect.parameters": parameters}]


NAMES = ["null", {"type": "array", "items": "string"}]
GRID = {"type": "array", "items": ["null", "string"], "connect.parameters": {SOURCE + "type": "_INT4"}}
KEY = {"type": "record", "name": "Key", "fields": [{"name": "id", "type": numeric(6, 0)}]}
OURS, LATER, OTHER, TEXT, PAIR, PLAIN, BARE, PRICED, LARGE, TOLD, RUN = 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
REAL, WORD, BYTES, WORDS = 14, 15, 16, 17  # what the key is
NARROW, WIDE, WIDE_KEY = 18, 19, 20  # what n and the key are
LINE, COPY = 21, 22  # of a table without a key, and of a multiset
SCHEMAS: dict[int, dict[str, Any]] = {
    OURS: record(("id", "int"), ("name", ["null", "string"])),
    LATER: record(("id", "int"), ("name", ["null", "string"]), ("note", ["null", "string"])),
    OTHER: record(("id", "int"), ("name", ["null", "string"]), namespace="lab.public.other"),
    TEXT: record(("id", "string")),
    PAIR: record(("id", "int"), ("part", ["null", "string"])),
    PLAIN: {"type": "string"},
    PRICED: record(("id", "int"), ("name", ["null", "string"]), ("price", numeric(10, 2)), ("grid", ["null", GRID])),
    LARGE: record(
        ("id", numeric(6, 0)), ("price", numeric(10, 2)), ("__unavailable", NAMES), ("__moved_from", ["null", KEY])
    ),
    TOLD: {
        "type": "record",
        "name": "TooLarge",
        "namespace": "lake",
        "fields": [{"name": "key", "type": "string"}, *({"name": name, "type": "long"} for name in ("bytes", "limit"))],
    },
    RUN: record(("id", "int"), ("name", ["null", "string"]), ("__run", ["null", "long"])),
    REAL: record(("id", "double"), ("name", ["null", "string"])),
    WORD: record(("id", "string"), ("name", ["null", "string"])),
    BYTES: record(("id", "bytes"), ("name", ["null", "string"])),
    WORDS: record(("id", {"type": "array", "items": ["null", "string"]}), ("name", ["null", "string"])),
    NARROW: record(("id", "int"), ("name", ["null", "string"]), ("n", "int")),
    WIDE: record(("id", "int"), ("name", ["null", "string"]), ("n", "long")),
    LINE: record(("line", ["null", "string"]), ("__row", ["null", "string"])),
    COPY: record(*((name, ["null", "string"]) for name in ("line", "__row", "__content", "__was"))),
    WIDE_KEY: record(("id", "long"), ("name", ["null", "string"]), ("n", "long")),
    BARE: {"type": "record", "name": "Value", "namespace": TOPIC, "fields": [{"name": "id", "type": "int"}]},
}


class Schemas:
    """A registry; known: the ids that it has. Without any it has lost its store."""

    def __init__(self, *known: int) -> None:
        self.known = set(known or SCHEMAS)
        self.lost = False

    def schema(self, schema_id: int) -> dict[str, Any]:
        if schema_id not in self.known or self.lost:
            raise UnknownSchema(f"schema id {schema_id} is not in the registry")
        return SCHEMAS[schema_id]

    def require(self, subject: str) -> list[int]:
        if self.lost:
            raise UnknownSchema(f"subject {subject} is not in the registry")
        return [1]


def framed(writer: int, body: bytes) -> bytes:
    return struct.pack(">bI", 0, writer) + body


def message(writer: int, **row: Any) -> bytes:
    """A row as the connector writes it."""
    out = io.BytesIO()
    full = {"__op": "u", "__lsn": 1, "__source_ts_ms": 1, "__deleted": "false", **row}
    fastavro.schemaless_writer(out, fastavro.parse_schema(SCHEMAS[writer]), full)
    return framed(writer, out.getvalue())


def too_large(key: str, size: int = 17_000_000) -> bytes:
    """What the connector sends in place of a row of so many bytes (lake.connect.LimitSize)."""
    out = io.BytesIO()
    told = {"key": key, "bytes": size, "limit": 16_000_000}
    fastavro.schemaless_writer(out, fastavro.parse_schema(SCHEMAS[TOLD]), told)
    return framed(TOLD, out.getvalue())


def batch(spark: SparkSession, *values: bytes, first: int = 0) -> DataFrame:
    """Messages of partition 0 from offset `first` on."""
    rows = [(0, first + place, b"key", value) for place, value in enumerate(values)]
    return spark.createDataFrame(rows, "partition int, offset long, key binary, value binary")
