"""A table that comes later and meets a pattern is captured by the guardian; what cannot be is told once it is there."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lake.config.definition import Database, load_database
from lake.config.environment import Environment, load_environment
from lake.discovery import writing
from lake.discovery.candidates import Candidate, Found, Reason
from lake.guardian import newcomers
from lake.guardian.newcomers import Newcomers
from lake.sources.postgres import survey
from lake.sources.postgres.survey import Relation, Survey

KEYLESS = Reason("it has no key", "add one")
A, B, LOG, OTHER = "public.a", "public.b", "public.log", "sales.x"


def candidate(name: str) -> Candidate:
    schema, _, table = name.partition(".")
    reasons = (KEYLESS,) if name == LOG else ()
    return Candidate(Relation(schema, table, "table", 1, 1, ["id"], {"id": "integer"}), {"key": ["id"]}, reasons)


class Source:
    """A database with tables, and a definition of public.*; what is applied, and whether other changes wait."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tables, self.waiting, self.applied = [A, OTHER], False, 0
        self.path = folder / "shop.yaml"
        self.path.write_text("database: shop\ntables:\n  public.*: {delete: hard}\n")
        self.met({A: {"key": ["id"]}})
        read = Survey("18.1", "UTF8", 1024, [])
        monkeypatch.setattr(writing, "path_of", lambda *_: self.path)
        monkeypatch.setattr(survey, "table_names", lambda *_: self.tables)
        monkeypatch.setattr(survey, "survey", lambda *_: read)
        judged = lambda *_: Found("shop", read, (), tuple(map(candidate, self.tables)))  # noqa: E731
        monkeypatch.setattr(newcomers, "candidates", judged)
        monkeypatch.setattr(newcomers, "planned", lambda _: SimpleNamespace(changes=self.changes()))
        monkeypatch.setattr(newcomers, "apply_all", self.apply)
        monkeypatch.setattr(newcomers, "JUDGE_AGAIN_S", 0.0)

    def met(self, tables: dict[str, Any]) -> None:
        self.path.with_name("shop.tables.json").write_text(json.dumps(tables))

    def changes(self) -> list[Any]:
        return [SimpleNamespace(kind="connector"), *self.left()] if self.waiting else self.left()

    def left(self) -> list[Any]:
        return [SimpleNamespace(kind="leave")]

    def apply(self, *_: Any, **__: Any) -> Any:
        self.applied += 1
        return SimpleNamespace(demand=lambda _: None)

    @property
    def definition(self) -> Database:
        return load_database(self.path)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    monkeypatch.setenv("LAKE_DATA_DIR", str(tmp_path / "data"))
    return load_environment()


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Source:
    return Source(tmp_path, monkeypatch)


def test_a_new_table_is_captured_with_the_settings_of_its_pattern(home: Environment, source: Source) -> None:
    guardian = Newcomers(home)
    assert guardian.attend(source.definition) == []
    source.tables.append(B)
    assert guardian.attend(source.definition) == []
    assert list(source.definition.by_name) == [A, B]
    assert source.definition.by_name[B].delete == "hard"
    guardian.attend(source.definition)
    assert source.applied == 1


def test_what_a_person_was_told_is_told_no_more_and_what_is_new_is(home: Environment, source: Source) -> None:
    source.tables.append(LOG)
    assert Newcomers(home).attend(source.definition) == [], "lake init listed it"
    source.path.with_name("shop.tables.json").touch()
    source.tables.remove(LOG)
    source.tables.append(B)
    Newcomers(home).attend(source.definition)
    source.tables.append(LOG)
    (drift,) = Newcomers(home).attend(source.definition)
    assert "public.log meets a pattern of the definition, and is not captured: it has no key" in drift.what
    source.met({A: {}, B: {}})  # lake init --update
    assert Newcomers(home).attend(source.definition) == []


def test_a_definition_that_a_person_is_writing_is_not_applied(home: Environment, source: Source) -> None:
    source.tables.append(B)
    source.waiting = True
    guardian = Newcomers(home)
    (drift,) = guardian.attend(source.definition)
    assert drift.what.startswith("public.b is not captured yet")
    assert (source.applied, list(source.definition.by_name)) == (0, [A])
    source.waiting = False
    assert (guardian.attend(source.definition), source.applied) == ([], 1)
