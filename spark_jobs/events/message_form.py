"""How the value of a message becomes a flat record: a row in Avro, an envelope of Debezium, or JSON without a registry.

A flat record has the columns of the row and the fields that Debezium's unwrap adds. Its schema has the name of the
topic and `Value`; it names the form of the message if that is another one. All readers of messages decode them here,
so that a topic may hold messages of several forms: an envelope before the day on which unwrap was added, for example.
"""

import json
import re
from typing import Any, Dict, List

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from spark_jobs.events.flatten import GENERATION, MOVED_FROM, UNAVAILABLE
from spark_jobs.runtime.sql_text import identifier

Schema = Dict[str, Any]
ENVELOPE = "lake.envelope"  # in a flat schema: the schema of the envelopes that its records come from
JSON = "lake.json"  # in a flat schema: true if the messages are JSON
OF_ENVELOPE = "Envelope"  # the name of Debezium's record
CORRUPT = "_lake_corrupt"
BODY = "substring(value, 6)"  # the value without its frame
ADDED_TYPES = {
    "__deleted": "string",
    "__op": "string",
    "__db": "string",
    "__table": "string",
    "__schema": "string",
    "__lsn": "long",
    "__source_ts_ms": "long",
    GENERATION: "long",
}
OF_SOURCE = {"__db": "db", "__table": "table", "__schema": "schema", "__lsn": "lsn", "__source_ts_ms": "ts_ms"}
PRIMITIVES = {"boolean": "boolean", "int": "int", "long": "bigint", "float": "float", "double": "double"}
TEXTS = {"string": "string", "enum": "string", "bytes": "binary", "fixed": "binary"}


def record_name(topic: str) -> str:
    """How Debezium names the records of a topic in Avro."""
    return re.sub("[^A-Za-z0-9_.]", "_", topic)


def flat(schema: Schema) -> Schema:
    """The schema of the flat records of a writer: its own, unless it writes envelopes."""
    if schema.get("name") != OF_ENVELOPE:
        return schema
    row, outer = _row_of(schema), {field["name"]: field for field in schema["fields"]}
    source = {field["name"] for field in branch(outer["source"]["type"])["fields"]}
    added = [name for name in ADDED_TYPES if OF_SOURCE.get(name, "db") in source and name != GENERATION]
    kept = [outer[name] for name in (GENERATION, UNAVAILABLE, MOVED_FROM) if name in outer]
    fields = row["fields"] + [nullable(name, ADDED_TYPES[name]) for name in added] + kept
    return {"type": "record", "name": "Value", "namespace": schema["namespace"], "fields": fields, ENVELOPE: schema}


def written(schema: Schema) -> Schema:
    """The Avro schema of the messages themselves, for a flat schema."""
    return dict(schema[ENVELOPE]) if ENVELOPE in schema else {key: schema[key] for key in schema if key != JSON}


def message(schema: Schema, mode: str = "FAILFAST") -> Column:
    """The message as it is, an envelope as one. schema: flat."""
    if schema.get(JSON):
        return _from_json(spark_type(schema), mode)
    return from_avro(F.expr(BODY), json.dumps(written(schema)), {"mode": mode})


def record(schema: Schema, mode: str = "FAILFAST") -> Column:
    """The flat record of a message. What can't be decoded fails the query, or with PERMISSIVE has no values."""
    found = message(schema, mode)
    return _once(found, lambda one: _flattened(schema, one)) if ENVELOPE in schema else found


def some_fields(schema: Schema, types: Dict[str, Any], mode: str = "FAILFAST") -> Column:
    """These fields of the flat record, in Avro types, null where a record has none; the decoder skips all others."""
    if schema.get(JSON):
        return _from_json(spark_type({"type": "record", "fields": _optional(types)}), mode)
    if ENVELOPE not in schema:
        return _projected(schema, _optional(types), mode)
    envelope = schema[ENVELOPE]
    outer = {field["name"]: field for field in envelope["fields"]}
    of_row = [name for name in types if name not in ADDED_TYPES and name != UNAVAILABLE]
    needed = ["op", "source", *(["before", "after"] if of_row else []), *(name for name in types if name in outer)]
    fields = [outer[name] for name in needed]
    absent = [one for one in _optional(types) if one["name"] in (GENERATION, UNAVAILABLE) and one["name"] not in outer]
    decoded = _projected(envelope, fields + absent, mode)
    return _once(decoded, lambda one: F.struct(*[_field(one, name).alias(name) for name in types]))


def with_fields(schema: Schema, fields: List[Schema]) -> Schema:
    """The Avro schema of a record, with other fields. The name stays, because a reader matches records by it."""
    return dict({kept: schema[kept] for kept in ("type", "name", "namespace") if kept in schema}, fields=fields)


def branch(avro_type: Any) -> Any:
    """The branch of a union that is not null."""
    found = [one for one in avro_type if one != "null"] if isinstance(avro_type, list) else [avro_type]
    return found[0]


def nullable(name: str, avro_type: Any) -> Schema:
    """A field that may be null or missing."""
    return {"name": name, "type": ["null", avro_type], "default": None}


def spark_type(avro_type: Any) -> str:
    """The type of Spark, as DDL, that JSON of an Avro type is read as; ValueError for another type."""
    found = branch(avro_type)
    kind = found["type"] if isinstance(found, dict) else found
    if not isinstance(kind, str):
        return spark_type(kind)
    if kind == "record":
        named = ["{}: {}".format(identifier(one["name"]), spark_type(one["type"])) for one in found["fields"]]
        return "struct<{}>".format(", ".join(named))
    if kind == "array":
        return "array<{}>".format(spark_type(found["items"]))
    if kind == "map":
        return "map<string, {}>".format(spark_type(found["values"]))
    simple = {**PRIMITIVES, **TEXTS}
    if kind not in simple:
        raise ValueError("'{}' is not a type that JSON is read as".format(kind))
    return simple[kind]


def _row_of(envelope: Schema) -> Schema:
    """The schema of the row: the first of before and after defines it, the other one names it."""
    rows = [branch(field["type"]) for field in envelope["fields"] if field["name"] in ("before", "after")]
    return dict(next(row for row in rows if isinstance(row, dict)))


def _flattened(schema: Schema, envelope: Column) -> Column:
    return F.struct(*[_field(envelope, field["name"]).alias(field["name"]) for field in schema["fields"]])


def _field(envelope: Column, name: str) -> Column:
    """A field of the flat record: of a change the row as it is after it, of a delete as it was before."""
    if name == "__deleted":
        return F.when(envelope["op"] == "d", "true").when(envelope["op"].isNotNull(), "false")
    if name == "__op":
        return envelope["op"]
    if name in OF_SOURCE:
        return envelope["source"][OF_SOURCE[name]]
    if name in (GENERATION, UNAVAILABLE, MOVED_FROM):
        return envelope[name]
    return F.coalesce(envelope["after"], envelope["before"])[name]


def _once(decoded: Column, made: Any) -> Column:
    """A column made from a decoded message, which is decoded once however often the column names it."""
    return F.transform(F.array(decoded), made)[0]


def _projected(writer: Schema, fields: List[Schema], mode: str) -> Column:
    options = {"avroSchema": json.dumps(with_fields(writer, fields)), "mode": mode}
    return from_avro(F.expr(BODY), json.dumps(writer), options)


def _optional(types: Dict[str, Any]) -> List[Schema]:
    return [nullable(name, kind) for name, kind in types.items()]


def _from_json(ddl: str, mode: str) -> Column:
    """With PERMISSIVE, a record in which one value is not as declared has no values at all."""
    text = F.expr(BODY).cast("string")
    if mode != "PERMISSIVE":
        return F.from_json(text, ddl, {"mode": mode})
    marked = "{}, {}: string>".format(ddl[:-1], CORRUPT)
    found = F.from_json(text, marked, {"mode": mode, "columnNameOfCorruptRecord": CORRUPT})
    return _once(found, lambda one: F.when(one[CORRUPT].isNull(), one))
