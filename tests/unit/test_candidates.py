"""What `lake init` offers: the tables of a server, judged by the rules of the plan."""

from types import SimpleNamespace

import pytest

from lake.config.environment import load_environment
from lake.discovery import candidates
from lake.discovery.candidates import Candidate
from lake.discovery.dsn import Target
from lake.sources.postgres import checks
from lake.sources.postgres.catalog import Catalog, SourceTable
from lake.sources.postgres.survey import Relation, Survey


def offered(monkeypatch: pytest.MonkeyPatch, found: SourceTable, schema: str = "public", name: str = "a") -> Candidate:
    """The candidate for one table. found: as the catalog has it."""
    relation = Relation(schema, name, "table", 10, 8192, found.key, {"id": "integer"})
    facts = SimpleNamespace(catalog=Catalog("logical", [], True, {found.full_name: found}))
    discovery = SimpleNamespace(read_source=lambda *_: facts)
    monkeypatch.setattr(candidates, "engine_of", lambda _: SimpleNamespace(checks=checks, discovery=discovery))
    survey = Survey("18.1", "UTF8", 1024, [relation])
    (one,) = candidates.candidates(load_environment(), Target(None, {}, "shop"), survey).candidates
    return one


def test_a_primary_key_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    one = offered(monkeypatch, SourceTable("public.a", "r", "p", ["id"], [], ["id"], []))
    assert (one.settings, one.reasons) == ({"key": ["id"]}, ())


def test_a_unique_index_is_offered_where_there_is_no_primary_key(monkeypatch: pytest.MonkeyPatch) -> None:
    unique = {"a_wide": ["b", "c"], "a_b": ["b"]}
    one = offered(monkeypatch, SourceTable("public.a", "r", "p", ["b", "c"], [], [], [], unique=unique))
    assert (one.settings, one.reasons) == ({"key": ["b"]}, ())


def test_a_unique_index_is_the_identity_where_a_column_is_virtual(monkeypatch: pytest.MonkeyPatch) -> None:
    columns, unique = ["b", "g"], {"a_b": ["b"]}
    virtual = SourceTable("public.a", "r", "p", columns, ["g"], [], [], unique=unique, virtual=["g"])
    assert offered(monkeypatch, virtual).settings == {"key": ["b"], "replica_identity": "index"}


def test_a_name_is_written_as_a_definition_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    found = SourceTable('"a.b"."c""d"', "r", "p", ["id"], [], ["id"], [])
    one = offered(monkeypatch, found, schema="a.b", name='c"d')
    assert (one.full_name, one.settings, one.reasons) == ('"a.b"."c""d"', {"key": ["id"]}, ())
