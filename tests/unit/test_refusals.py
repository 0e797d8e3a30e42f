"""One refused database or table keeps no other one from its plan, and what is captured stays as it was applied."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lake.config.definition import Database
from lake.config.environment import Environment
from lake.config.errors import BadInput
from lake.plan import apply, facts
from lake.plan.diff import changes
from lake.plan.facts import Facts
from lake.plan.preconditions import findings
from lake.plan.refusals import content, refused_tables
from lake.rendering.pipeline import pipeline
from lake.rendering.topics import topics
from lake.sources.change import Change
from lake.sources.connector import source_connector
from lake.sources.engine import SourceFacts
from lake.sources.postgres.catalog import Catalog, SourceTable

LOCAL = Environment(name="local", root=Path(__file__).parents[2])
A = {"key": ["id"]}


def database(name: str, **tables: dict[str, Any]) -> Database:
    return Database.model_validate({"database": name, "tables": {f"public.{one}": tables[one] for one in tables}})


def source(*names: str, **changed: Any) -> SourceFacts:
    found = {f"public.{one}": SourceTable(f"public.{one}", "r", "p", ["id"], [], ["id"], []) for one in names}
    missing = [Change("source", "", "lake", f"add public.{one}", "ALTER", f"public.{one}") for one in names]
    return SourceFacts(replace(Catalog("logical", [], True, found), **changed), missing, [])


def fresh(databases: list[Database], **sources: SourceFacts) -> Facts:
    """Nothing has been applied."""
    wanted = [topic for one in databases for topic in topics(one, LOCAL)]
    missing = {
        name: replace(one, missing=[replace(change, database=name) for change in one.missing])
        for name, one in sources.items()
    }
    return Facts(missing, wanted, {}, {one.database: None for one in databases}, {})


def settled(databases: list[Database], **sources: SourceFacts) -> Facts:
    """Everything has been applied."""
    found = fresh(databases, **{name: replace(one, missing=[]) for name, one in sources.items()})
    connectors = {one.database: source_connector(one, LOCAL) for one in databases}
    present = {topic.name: topic for topic in found.wanted_topics}
    return replace(found, topics=present, connectors=connectors, pipeline=pipeline(databases, LOCAL))


def planned(databases: list[Database], found: Facts) -> list[Change]:
    refused = refused_tables(databases, findings(databases, LOCAL, found))
    return changes(databases, LOCAL, found, refused)


def test_everything_that_is_wrong_is_found_at_once() -> None:
    shop = database("shop", a={"key": ["id"], "partition": "kind"}, b=A, c=A)
    found = fresh([shop], shop=source("a", "c", wal_level="replica", missing_roles=["lake_verify"]))
    assert [(one.table, one.what) for one in findings([shop], LOCAL, found)] == [
        ("", "wal_level is 'replica', capture needs 'logical'"),
        ("", "there is no role lake_verify"),
        ("public.a", "public.a has no column 'kind'"),
        ("public.b", "PostgreSQL has no table public.b"),
    ]


def test_a_refused_database_keeps_no_other_from_its_changes() -> None:
    both = [database("bad", a=A), database("good", a=A)]
    found = fresh(both, bad=source("a", may_replicate=False), good=source("a"))
    assert {change.database for change in planned(both, found)} == {"good", ""}
    assert planned(both, found)[-1].detail == "add good.public.a"


def test_a_refused_table_keeps_no_other_from_its_changes() -> None:
    shop = database("shop", a=A, b=A)
    made = planned([shop], fresh([shop], shop=source("a")))
    assert {change.table for change in made if change.kind == "source"} == {"public.a"}
    (connector,) = [change for change in made if change.kind == "connector"]
    assert connector.detail == "captures (?-i)public.a"
    assert made[-1].detail == "add shop.public.a"


def test_a_refused_table_that_is_captured_stays_as_it_was_applied() -> None:
    before, after = database("shop", a=A, b=A), database("shop", a={"key": ["x"], "replica_identity": "default"}, b=A)
    found = settled([before], shop=source("a", "b"))
    identity = Change("source", "shop", "public.a", "replica identity default", "ALTER TABLE", "public.a")
    found = replace(found, sources={"shop": replace(found.sources["shop"], missing=[identity])})
    assert planned([after], found) == []


def test_a_database_that_cannot_be_read_stays_as_it_was_applied(monkeypatch: pytest.MonkeyPatch) -> None:
    both = [database("away", a=A), database("good", a=A)]
    found = settled(both, good=source("a"))
    missing = facts.unreadable("away", BadInput("there is no database 'away'", "PostgreSQL", "create it"))
    assert planned(both, replace(found, unread=[missing])) == []


def test_tables_keep_their_places_in_the_pipeline_file() -> None:
    both = [database("bad", a=A, b=A), database("good", a=A)]
    before = pipeline(both, LOCAL)
    assert content(both, LOCAL, before, frozenset({("bad", "public.a")})) == before
    assert content(both, LOCAL, before, frozenset({("bad", "public.a"), ("bad", "public.b")})) == before


def test_a_failed_connector_is_restarted() -> None:
    shop = database("shop", a=A)
    found = replace(settled([shop], shop=source("a")), failures={"shop": "no pg_hba.conf entry"})
    (change,) = planned([shop], found)
    assert (change.action, change.object, change.detail) == (
        "restart",
        "source_postgres_shop",
        "it failed: no pg_hba.conf entry",
    )


def test_a_database_that_fails_in_the_middle_keeps_no_other_from_its_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = [database("bad", a=A), database("good", a=A)]
    performed: list[tuple[str, str]] = []

    def execute(place: Environment, one: Database, group: list[Change]) -> None:
        if one.database == "bad":
            raise BadInput("PostgreSQL does not answer", "PostgreSQL", "run: lake up")
        performed.append(("source", one.database))

    monkeypatch.setattr("lake.sources.postgres.preparation.execute", execute)
    monkeypatch.setattr("lake.sources.postgres.leaving.note_identities", lambda *_: None)
    place = Environment(name="local", root=tmp_path)
    found = fresh(both, bad=source("a"), good=source("a"))
    made = [one for one in changes(both, LOCAL, found) if one.kind in ("source", "pipeline")]
    failures = apply.apply(made, both, place, found, lambda line: None)
    assert (list(failures), performed) == (["bad"], [("source", "good")])
    written = facts.read_pipeline(place)
    assert [table["topic"] for table in written["tables"]] == ["good.public.a"]
