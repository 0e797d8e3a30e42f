"""The one list of what a PostgreSQL source needs, and the scripts made from it."""

import re

from lake.config.definition import Database
from lake.sources.postgres import preparation, script

SHOP = Database.model_validate(
    {
        "database": "shop",
        "tables": {"public.a": {"key": ["id"]}, "sales.b": {"key": ["id"], "replica_identity": "default"}},
    }
)


def statements() -> list[str]:
    return [step.statement.strip("'").replace("''", "'") for step in preparation.database_steps(SHOP)]


def test_the_publication_tells_of_everything_and_has_every_table() -> None:
    options = "publish = 'insert, update, delete, truncate', publish_via_partition_root = true"
    assert f'CREATE PUBLICATION "lake_shop" WITH ({options})' in statements()
    assert f'ALTER PUBLICATION "lake_shop" SET ({options})' in statements()
    added = [text for text in statements() if " ADD TABLE " in text]
    members = ('"public"."a"', '"sales"."b"', '"lake"."heartbeat"', '"lake"."signal"')
    assert added == [f'ALTER PUBLICATION "lake_shop" ADD TABLE {member}' for member in members]


def test_a_table_in_part_is_dropped_before_it_is_added() -> None:
    own = [text for text in statements() if '"public"."a"' in text and "PUBLICATION" in text]
    assert own == [f'ALTER PUBLICATION "lake_shop" {verb} TABLE "public"."a"' for verb in ("DROP", "ADD")]


def test_each_role_gets_what_its_work_needs() -> None:
    granted = [text for text in statements() if text.startswith("GRANT")]
    assert granted == [
        'GRANT USAGE ON SCHEMA "lake" TO "lake_capture"',
        'GRANT USAGE ON SCHEMA "public" TO "lake_capture"',
        'GRANT USAGE ON SCHEMA "sales" TO "lake_capture"',
        'GRANT SELECT ON "public"."a" TO "lake_capture"',
        'GRANT SELECT ON "sales"."b" TO "lake_capture"',
        'GRANT SELECT, INSERT, UPDATE ON "lake"."heartbeat" TO "lake_capture"',
        'GRANT SELECT, INSERT, DELETE ON "lake"."signal" TO "lake_capture"',
        'GRANT USAGE ON SCHEMA "public" TO "lake_verify"',
        'GRANT USAGE ON SCHEMA "sales" TO "lake_verify"',
        'GRANT SELECT ON "public"."a" TO "lake_verify"',
        'GRANT SELECT ON "sales"."b" TO "lake_verify"',
    ]


def test_a_table_has_the_identity_that_the_definition_gives_it() -> None:
    found = [re.search(r"'public\.a'|'sales\.b'", step.each) for step in preparation.database_steps(SHOP) if step.each]
    assert [match[0] for match in found if match] == ["'public.a'", "'sales.b'"]
    assert [text for text in statements() if "REPLICA IDENTITY" in text] == [
        "format('ALTER TABLE %I.%I REPLICA IDENTITY FULL', n.nspname, c.relname)",
        "format('ALTER TABLE %I.%I REPLICA IDENTITY DEFAULT', n.nspname, c.relname)",
    ]


def test_quotes_in_a_name_cannot_leave_the_identifier() -> None:
    assert preparation.qualified('public.x"; DROP TABLE y; --') == '"public"."x""; DROP TABLE y; --"'
    assert preparation.literal("x'; DROP TABLE y; --") == "'x''; DROP TABLE y; --'"


def test_the_tables_of_the_lake_schema() -> None:
    assert "CREATE SCHEMA IF NOT EXISTS lake" in statements()
    assert "CREATE TABLE lake.heartbeat (id int PRIMARY KEY, at timestamptz NOT NULL)" in statements()
    assert "CREATE TABLE lake.signal (id varchar(64) PRIMARY KEY, type varchar(32) NOT NULL, data text)" in statements()


def test_the_scripts_carry_out_every_step() -> None:
    database, server = script.database_script(SHOP), script.server_script(["shop"])
    assert all(step.unmet in database for step in preparation.database_steps(SHOP))
    assert all(step.unmet in server for step in preparation.server_steps(["shop"]))
