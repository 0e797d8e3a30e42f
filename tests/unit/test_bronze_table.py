"""The archive as a table of the catalog: declared columns, partitions, readers."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from lake.aws.rendering import glue_databases
from lake.config.definition import Database
from lake.rendering import bronze_table
from lake.rendering.pipeline import pipeline
from tests.unit.test_plan import LOCAL

AVSC = {
    "type": "record",
    "name": "Value",
    "fields": [
        {"name": "id", "type": "int"},
        {"name": "country", "type": ["null", "string"]},
        {"name": "tags", "type": ["null", {"type": "array", "items": ["null", "long"]}]},
    ],
}


def shop(bronze: dict[str, Any], **settings: Any) -> Database:
    tables = {"public.a": {"key": ["id"], "avsc": AVSC, "bronze": {"catalog": True, **bronze}}}
    return Database.model_validate({"database": "shop", "tables": tables, **settings})


def entry(database: Database) -> dict[str, Any]:
    (table,) = pipeline([database], LOCAL)["tables"]
    return dict(table["bronze"]["catalog"])


def test_a_row_has_the_declared_columns_and_those_of_the_connector() -> None:
    found = entry(shop({}))
    assert (found["database"], found["table"]) == ("shop_bronze", "a")
    columns = dict(found["columns"])
    assert list(columns)[:3] == ["id", "country", "tags"]
    assert (columns["tags"], columns["__deleted"], columns["__lsn"]) == ("array<bigint>", "string", "bigint")
    assert list(columns)[-1] == "__offset"
    assert found["partitions"] == [["partition", "int"]]


def test_an_envelope_has_the_row_before_and_after() -> None:
    columns = dict(entry(shop({}, envelope=True))["columns"])
    assert columns["before"] == columns["after"] == "struct<id:int,country:string,tags:array<bigint>>"
    assert list(columns) == ["before", "after", "source", "op", "ts_ms", "__run", "__offset"]


def test_a_column_that_names_folders_is_no_column_of_the_files() -> None:
    found = entry(shop({"by": ["country"], "format": "parquet"}))
    assert "country" not in dict(found["columns"])
    assert found["partitions"] == [["country", "string"]]


@pytest.mark.parametrize(("format", "word"), [("avro", "AvroSerDe"), ("parquet", "Parquet"), ("json", "JsonSerDe")])
def test_each_format_has_its_reader(format: str, word: str) -> None:
    assert word in entry(shop({"format": format}))["serde"]


def test_avro_has_a_schema_that_names_each_record_once() -> None:
    schema = bronze_table.avro_schema(shop({}, envelope=True), shop({}, envelope=True).tables[0])
    text = json.dumps(schema)
    assert text.count('"name": "Value"') == text.count('"name": "Source"') == 1
    assert {one["default"] for one in schema["fields"]} == {None}


def test_athena_computes_the_partitions_that_it_can() -> None:
    by = {name: bronze_table.projection(shop({"by": name}).tables[0], 3) for name in ("partition", "day")}
    assert by["partition"]["projection.partition.range"] == "0,2"
    assert (by["day"]["projection.month.digits"], by["day"]["projection.day.range"]) == ("2", "1,31")
    assert bronze_table.projection(shop({"by": ["country"]}).tables[0], 3) == {}


def test_the_catalog_on_aws_has_the_database() -> None:
    assert "shop_bronze" in glue_databases([shop({})])
    assert "things_bronze" in glue_databases([shop({}, lake_name="things")])


def test_a_table_without_declared_columns_is_refused() -> None:
    tables = {"public.a": {"key": ["id"], "bronze": {"catalog": True}}}
    with pytest.raises(ValidationError, match=r"bronze table of public\.a has no columns"):
        Database.model_validate({"database": "shop", "tables": tables})


def test_a_column_of_folders_must_be_declared() -> None:
    with pytest.raises(ValidationError, match="no field 'place'"):
        shop({"by": ["place"]})
