"""What a connector template becomes."""

import json
from pathlib import Path

import pytest

from lake.config.definition import Database, load_database
from lake.config.environment import Environment
from lake.config.errors import BadInput
from lake.rendering.connector import render
from lake.rendering.topics import LARGEST_MESSAGE
from lake.sources.connector import source_connector
from lake.sources.postgres.catalog import Catalog, SourceTable, resolved
from lake.sources.postgres.connector import key_only_topics
from spark_jobs.sources.postgres.reader import SESSION
from tests.envelope import envelope_connector

PROJECT = Path(__file__).parents[2]


@pytest.fixture
def environment() -> Environment:
    return Environment(name="local", root=PROJECT, port_base=27000, data_dir="/data/lake")


def template(folder: Path, **settings: object) -> Path:
    path = folder / "template.json"
    path.write_text(json.dumps(settings))
    return path


def test_values_fill_placeholders_and_cannot_break_the_json(tmp_path: Path) -> None:
    path = template(tmp_path, url="jdbc:${HOST}/${DB}", fixed="x")
    assert render(path, {"HOST": 'a"b\\', "DB": "${HOST}"}) == {"url": 'jdbc:a"b\\/${HOST}', "fixed": "x"}


def test_references_of_the_config_provider_pass(tmp_path: Path) -> None:
    path = template(tmp_path, password="${file:/secrets/x.properties:password}")
    assert render(path, {}) == {"password": "${file:/secrets/x.properties:password}"}


def test_a_missing_value_is_refused(tmp_path: Path) -> None:
    path = template(tmp_path, host="${HOST}")
    with pytest.raises(BadInput, match="'HOST' has no value"):
        render(path, {})


def test_an_unused_value_is_refused(tmp_path: Path) -> None:
    path = template(tmp_path, host="${HOST}")
    with pytest.raises(BadInput, match="'PORT' is used by no setting"):
        render(path, {"HOST": "a", "PORT": "1"})


def test_the_capture_of_the_museum(environment: Environment) -> None:
    settings = source_connector(load_database(PROJECT / "databases" / "moma.yaml"), environment)
    expected = {
        "name": "source_postgres_moma",
        "database.hostname": "127.0.0.1",
        "database.port": "27000",
        "database.dbname": "moma",
        "database.user": "lake_capture",
        "database.password": "${file:/data/lake/secrets/capture.properties:password}",
        "topic.prefix": "moma",
        "table.include.list": "(?-i)public.artists,(?-i)public.artworks,(?-i)public.departments",
        "publication.name": "lake_moma",
        "publication.autocreate.mode": "disabled",
        "slot.name": "lake_moma",
        "transforms": "drop_signal,truncates,names,rows,copies,unwrap,run,unavailable,placeholder,normalize,limit",
        "predicates.key_only.pattern": "(?!)",
        "predicates.append.pattern": "(?!)",
        "predicates.multiset.pattern": "(?!)",
        "transforms.unwrap.add.fields": "op,db,table,schema,lsn,source.ts_ms",
        "key.converter.apicurio.registry.url": "http://127.0.0.1:27004/apis/registry/v2",
        "value.converter.apicurio.registry.url": "http://127.0.0.1:27004/apis/registry/v2",
    }
    assert {key: settings[key] for key in expected} == expected


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ("offset.mismatch.strategy", "trust_offset"),  # a lost slot is an error, never a silent gap
        ("slot.drop.on.stop", "false"),
        ("tombstones.on.delete", "false"),
        ("transforms.unwrap.delete.tombstone.handling.mode", "rewrite"),
        ("snapshot.max.threads", "1"),
        ("skipped.operations", "none"),  # a TRUNCATE is an event
        ("driver.options", SESSION),  # the connector and the proof read alike, whatever the database is set to
        ("message.prefix.exclude.list", "(?s).*"),  # else it asks for a topic of pg_logical_emit_message for ever
        ("producer.override.enable.idempotence", "true"),
        ("producer.override.acks", "all"),
        ("errors.max.retries", "-1"),
        ("producer.override.max.request.size", str(LARGEST_MESSAGE)),
        ("transforms.limit.max.bytes", "16252928"),
        ("value.converter.apicurio.registry.find-latest", "false"),
        ("value.converter.apicurio.registry.as-confluent", "true"),
        ("value.converter.apicurio.registry.use-id", "contentId"),
    ],
)
def test_settings_that_correctness_rests_on(environment: Environment, setting: str, text: str) -> None:
    assert source_connector(load_database(PROJECT / "databases" / "moma.yaml"), environment)[setting] == text


def test_the_envelope_connector_differs_in_names_and_unwrap_only(environment: Environment) -> None:
    moma = load_database(PROJECT / "databases" / "moma.yaml")
    flat, envelope = source_connector(moma, environment), envelope_connector(moma, environment, "envelope")
    assert {key: envelope.get(key) for key in flat if envelope.get(key) != flat[key]} == {
        "name": "source_postgres_moma_envelope",
        "slot.name": "lake_moma_envelope",
        "topic.prefix": "envelope",
        "transforms": "drop_signal,truncates,names,rows,copies,run,unavailable,placeholder,normalize,limit",
        "transforms.truncates.topic": "__debezium-heartbeat.envelope",
        "transforms.unwrap.type": None,
        "transforms.unwrap.delete.tombstone.handling.mode": None,
        "transforms.unwrap.add.fields": None,
        "transforms.unwrap.replace.null.with.default": None,
    }


def test_rows_without_a_key_are_named_and_their_first_snapshot_is_exact(environment: Environment) -> None:
    copies = {"public.copies": {"without_key": "multiset"}}
    tables = {"public.log": {"without_key": "append"}, "public.b": {"key": ["id"]}, **copies}
    shop = Database.model_validate({"database": "shop", "tables": tables})
    settings = source_connector(shop, environment)
    assert settings["predicates.append.pattern"] == "shop[.]public[.]log"
    assert settings["predicates.multiset.pattern"] == "shop[.]public[.]copies"
    used = ("rows.predicate", "rows.multiset", "copies.predicate", "copies.multiset")
    assert [settings.get(f"transforms.{name}") for name in used] == ["append", None, "multiset", "true"]
    assert settings["snapshot.mode.custom.exact"] == "true"
    moma = load_database(PROJECT / "databases" / "moma.yaml")
    assert "snapshot.mode.custom.exact" not in source_connector(moma, environment)


def test_arrays_of_several_dimensions_are_named_to_the_converter(environment: Environment) -> None:
    found = SourceTable("public.a", "r", "p", ["id", "a,b", "n"], [], ["id"], [], grids=["a,b"])
    shop = Database.model_validate({"database": "shop", "tables": {"public.a": None}})
    known = resolved(shop, Catalog("logical", [], True, {"public.a": found}), {})
    assert source_connector(known, environment)["exact.texts"] == r"(?-i)\Qpublic.a.a\E\x2c\Qb\E"


def test_only_messages_of_tables_under_identity_default_are_looked_through() -> None:
    settings = {"key": ["id"], "replica_identity": "default"}
    tables = {"public.a": settings, "public.b": {"key": ["id"]}, "sales.c_1": settings}
    shop = Database.model_validate({"database": "shop", "tables": tables})
    assert key_only_topics(shop) == "shop[.]public[.]a|shop[.]sales[.]c_1"
