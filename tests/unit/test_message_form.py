"""What a definition may say of the form of messages, and what the connector then gets."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lake.config.definition import load_database
from lake.config.errors import BadInput
from lake.rendering.pipeline import pipeline
from lake.sources.connector import source_connector
from lake.sources.findings import refuse
from lake.sources.postgres.catalog import Catalog, SourceTable
from lake.sources.postgres.checks import findings
from spark_jobs.events import declared_schema, message_form
from spark_jobs.runtime.pipeline import Table
from tests.unit.test_plan import LOCAL, shop

FIELDS = [{"name": "id", "type": "int"}, {"name": "kind", "type": ["null", "string"]}]
RECORD = {"type": "record", "name": "Value", "fields": FIELDS}


def defined(folder: Path, text: str, schema: Any = RECORD) -> Path:
    path = folder / "shop.yaml"
    path.write_text(f"database: shop\n{text}")
    (folder / "a.avsc").write_text(schema if isinstance(schema, str) else json.dumps(schema))
    return path


def of(kind: Any) -> dict[str, Any]:
    return {**RECORD, "fields": [*FIELDS, {"name": "x", "type": kind}]}


def json_of_a(**more: str) -> str:
    settings = ", ".join(f"{key}: {value}" for key, value in {"key": "[id]", "avsc": "a.avsc", **more}.items())
    return f"format: json\ntables: {{public.a: {{{settings}}}}}\n"


def test_json_needs_no_registry(tmp_path: Path) -> None:
    database = load_database(defined(tmp_path, json_of_a()))
    settings = source_connector(database, LOCAL)
    assert [key for key in settings if "apicurio" in key] == []
    assert settings["value.converter"] == settings["key.converter"] == "org.apache.kafka.connect.json.JsonConverter"
    assert settings["value.converter.schemas.enable"] == "false"
    assert settings["value.converter.replace.null.with.default"] == "false"
    assert 6 * int(settings["transforms.limit.max.bytes"]) < int(settings["producer.override.max.request.size"])
    (table,) = pipeline([database], LOCAL)["tables"]
    assert (table["format"], table["avsc"]) == ("json", RECORD)


def test_the_form_is_told_only_where_it_is_another() -> None:
    (table,) = pipeline([shop(a={"key": ["id"]})], LOCAL)["tables"]
    assert not {"format", "avsc"} & set(table)


@pytest.mark.parametrize(
    ("text", "schema", "says"),
    [
        ("format: json\ntables: {public.a: {key: [id]}}\n", RECORD, "public.a has no avsc"),
        ("tables: {public.a: {key: [id], avsc: a.avsc}}\n", RECORD, "nothing reads the avsc of public.a"),
        (f"envelope: true\n{json_of_a()}", RECORD, "not as envelopes"),
        (json_of_a(avsc="b.avsc"), RECORD, r"there is no file .*b\.avsc"),
        (json_of_a(), "{", r"a\.avsc is not JSON"),
        (json_of_a(), {"type": "string"}, "is not the schema of a record"),
        (json_of_a(), {**RECORD, "fields": [{"name": "id"}]}, "a field without name or type"),
        (json_of_a(), of("date"), "the field x a type that is not read"),
        (json_of_a(), of({"type": "bytes", "logicalType": "decimal"}), "the field x a type that is not read"),
        (json_of_a(), of(["string", "int"]), "the field x a type that is not read"),
        (json_of_a(key="[id, other]"), RECORD, "avsc has no field 'other'"),
        (json_of_a(partition="place"), RECORD, "avsc has no field 'place'"),
    ],
)
def test_refused(tmp_path: Path, text: str, schema: Any, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        load_database(defined(tmp_path, text, schema))


def table(identity: str = "full") -> Table:
    avsc = of({"type": "array", "items": "long"})
    return Table(
        "shop", "public", "a", "shop.public.a", 0, ("id",), None, "soft", identity, (), format="json", avsc=avsc
    )


def test_what_the_connector_adds_need_not_be_declared() -> None:
    found = declared_schema.declared(table())
    names = [field["name"] for field in found["fields"]]
    assert names[:3] == ["id", "kind", "x"]
    assert {"__op", "__deleted", "__lsn", "__source_ts_ms", "__run", "__unavailable", "__moved_from"} < set(names)
    assert {field["type"][0] for field in found["fields"]} == {"null"}
    assert f"{found['namespace']}.{found['name']}" == "shop.public.a.Value"
    assert declared_schema.declared(table("default")) == found, "somebody may change the identity of a table"


@pytest.mark.parametrize(
    ("kind", "names"), [("", set()), ("append", {"__row"}), ("multiset", {"__row", "__content", "__was"})]
)
def test_what_the_connector_adds_to_rows_without_a_key(kind: str, names: set[str]) -> None:
    found = [
        {field["name"] for field in declared_schema.declared(one)["fields"]}
        for one in (table(), replace(table(), without_key=kind))
    ]
    assert found[1] - found[0] == names


@pytest.mark.parametrize(
    ("kind", "ddl"),
    [
        (["null", "long"], "bigint"),
        ({"type": "int", "connect.name": "io.debezium.time.Date"}, "int"),
        ({"type": "array", "items": ["null", "string"]}, "array<string>"),
        ({"type": "map", "values": "double"}, "map<string, double>"),
        (RECORD, "struct<`id`: int, `kind`: string>"),
        ("bytes", "binary"),
    ],
)
def test_types_that_json_is_read_as(kind: Any, ddl: str) -> None:
    assert message_form.spark_type(kind) == ddl


SHOWN = "tables: {public.a: {key: [id], avsc: a.avsc, bronze: {catalog: true}}}\n"


@pytest.mark.parametrize(
    ("text", "columns", "says"),
    [
        (json_of_a(), ["id", "kind", "later"], "no field 'later', which is a column of public.a"),
        (json_of_a(), ["id"], "public.a has no column 'kind'"),
        (SHOWN, ["id"], "public.a has no column 'kind'"),
    ],
)
def test_a_declared_schema_fits_its_table(tmp_path: Path, text: str, columns: list[str], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        refuse(findings(load_database(defined(tmp_path, text)), catalog(columns), partitions=1))


@pytest.mark.parametrize(("text", "columns"), [(json_of_a(), ["id", "kind"]), (SHOWN, ["id", "kind", "later"])])
def test_a_table_over_an_archive_need_not_show_all_columns(tmp_path: Path, text: str, columns: list[str]) -> None:
    assert findings(load_database(defined(tmp_path, text)), catalog(columns), partitions=1) == []


def catalog(columns: list[str]) -> Catalog:
    return Catalog("logical", [], True, {"public.a": SourceTable("public.a", "r", "p", columns, [], ["id"], [])})
