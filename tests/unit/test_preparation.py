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


def test_the_publication_tells_of_everything() -> None:
    told = "publish = ''insert, update, delete, truncate'', publish_via_partition_root = true"
    made = [step.statement for step in preparation.database_steps(SHOP) if "'lake_shop'" in step.statement]
    assert any("CREATE PUBLICATION %I WITH (%s)" in one and told in one for one in made)
    assert any("ALTER PUBLICATION %I SET (%s)" in one and told in one for one in made)


def test_each_role_gets_what_its_work_needs() -> None:
    (granted,) = [step.each for step in preparation.database_steps(SHOP) if "GRANT %s ON" in step.statement]
    columns = [re.findall(r"'(.*?)'", column) for column in re.findall(r"ARRAY\[(.*?)\]", granted)]
    names, schemas, tables, readers, *own = columns
    assert list(zip(names, schemas, tables, strict=True)) == [("public.a", "public", "a"), ("sales.b", "sales", "b")]
    assert readers == ["lake_capture", "lake_verify"] and "SELECT *, 'SELECT' FROM" in granted
    assert list(zip(*own, strict=True)) == [
        ("lake.heartbeat", "lake", "heartbeat", "lake_capture", "SELECT, INSERT, UPDATE"),
        ("lake.signal", "lake", "signal", "lake_capture", "SELECT, INSERT, DELETE"),
    ]


def test_a_table_has_the_identity_that_the_definition_gives_it() -> None:
    (wanted,) = [step.each for step in preparation.database_steps(SHOP) if "REPLICA IDENTITY" in step.statement]
    assert "ARRAY['a', 'b', 'heartbeat', 'signal']::text[], ARRAY['FULL', 'DEFAULT'," in wanted


def test_quotes_in_a_name_cannot_leave_the_identifier() -> None:
    assert preparation.name('x"; DROP TABLE y; --') == '"x""; DROP TABLE y; --"'
    assert preparation.literal("x'; DROP TABLE y; --") == "'x''; DROP TABLE y; --'"


def test_the_tables_of_the_lake_schema() -> None:
    assert "CREATE SCHEMA IF NOT EXISTS lake" in statements()
    assert "CREATE TABLE lake.heartbeat (id int PRIMARY KEY, at timestamptz NOT NULL)" in statements()
    assert "CREATE TABLE lake.signal (id varchar(64) PRIMARY KEY, type varchar(32) NOT NULL, data text)" in statements()


def test_the_scripts_carry_out_every_step() -> None:
    database, server = script.database_script(SHOP), script.server_script(["shop"])
    for name, text in {**script.variables(SHOP), **script.SHARED}.items():
        database = database.replace(f":{name}", text)
    assert all(step.unmet in database for step in preparation.database_steps(SHOP))
    assert all(step.unmet in server for step in preparation.server_steps(["shop"]))
