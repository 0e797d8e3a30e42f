"""What the guardian reads of a source in which order, and what it holds it against."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lake.config.environment import load_environment
from lake.guardian import inspect
from lake.sources.postgres import catalog, facts
from lake.state import baseline
from tests.unit.test_guard_rules import DATABASE, SERVER, SLOT, TABLE
from tests.unit.test_plan import source


def test_a_server_is_never_behind_what_was_taken_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read before the connector's position it looked like one that was restored from a backup, and capture stopped."""
    read: list[str] = []

    def reads(name: str) -> Any:
        return lambda *_: read.append(name)

    monkeypatch.setattr(facts, "connect_source", lambda *_: nullcontext())
    for name in ("slot", "server", "tables"):
        monkeypatch.setattr(facts, f"read_{name}", reads(name))
    facts.observe(load_environment(), DATABASE, reads("connector"))
    assert [name for name in read if name != "tables"] == ["slot", "connector", "server"]


@pytest.mark.parametrize(("is_noted", "told"), [(True, ["was rewritten"]), (False, [])])
def test_a_table_is_held_against_what_it_was_before_its_first_snapshot(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_noted: bool, told: list[str]
) -> None:
    """The first look comes when the snapshot is under way: what it finds may have been rewritten already."""
    monkeypatch.setenv("LAKE_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(facts, "connect_source", lambda *_: nullcontext())
    monkeypatch.setattr(facts, "read_slot", lambda *_: SLOT)
    monkeypatch.setattr(facts, "read_server", lambda *_: SERVER)
    home = load_environment()
    if is_noted:
        monkeypatch.setattr(facts, "read_tables", lambda *_: {"public.a": replace(TABLE, files={"1": 10})})
        baseline.note(home, DATABASE)
    applied = [{"database": "shop", "schema": "public", "table": "a", "keys": ["id"], "replica_identity": "full"}]
    monkeypatch.setattr(inspect, "read_pipeline", lambda environment: {"tables": applied})
    monkeypatch.setattr(inspect, "Connect", lambda url: SimpleNamespace(offset=lambda name: None, running=dict))
    monkeypatch.setattr(catalog, "read_source", lambda *_: source("a"))
    monkeypatch.setattr(facts, "read_tables", lambda *_: {"public.a": replace(TABLE, files={"1": 11})})
    for _ in range(2):  # the second goes by what the first has kept
        found = [drift.what for drift in inspect.inspect(home, DATABASE).drifts]
        assert [word for word in told if word in " ".join(found)] == told and len(found) == len(told), found


def test_a_loss_is_kept_until_its_table_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An apply notes it before the pipeline file names the table, and the guardian may look in between."""
    monkeypatch.setenv("LAKE_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(facts, "connect_source", lambda *_: nullcontext())
    monkeypatch.setattr(facts, "read_slot", lambda *_: SLOT)
    monkeypatch.setattr(facts, "read_server", lambda *_: SERVER)
    monkeypatch.setattr(facts, "read_tables", lambda _, one: dict.fromkeys(one.by_name, TABLE))
    monkeypatch.setattr(inspect, "Connect", lambda url: SimpleNamespace(offset=lambda name: None, running=dict))
    monkeypatch.setattr(catalog, "read_source", lambda *_: source("a"))
    home, applied = load_environment(), list[dict[str, Any]]()
    monkeypatch.setattr(inspect, "read_pipeline", lambda _: {"tables": applied})
    baseline.note_losses(home, "shop", {"public.a": "is not read yet"})
    assert inspect.inspect(home, DATABASE).drifts == []
    applied += [{"database": "shop", "schema": "public", "table": "a", "keys": ["id"], "replica_identity": "full"}]
    for _ in range(2):
        assert [one.what for one in inspect.inspect(home, DATABASE).drifts] == ["public.a is not read yet"]
    assert baseline.noted_losses(home, "shop") == {}
