"""What the guardian reads of a source in which order, and what it holds it against."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lake.config.home import load_home
from lake.guardian import inspect
from lake.state import baseline
from tests.unit.test_guard_rules import DATABASE, SERVER, SLOT, TABLE


class Enough(Exception):
    """Ends the look: all positions are read."""


def test_a_server_is_never_behind_what_was_taken_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read before the connector's position it looked like one that was restored from a backup, and capture stopped."""
    read: list[str] = []

    def reads(name: str) -> Any:
        return lambda *_: read.append(name)

    def enough(*_: Any) -> None:
        raise Enough

    class Connect:
        def __init__(self, url: str) -> None:
            self.offset, self.running = reads("connector"), dict

    monkeypatch.setattr(inspect, "Connect", Connect)
    monkeypatch.setattr(inspect, "connect_source", lambda *_: nullcontext())
    monkeypatch.setattr(inspect, "read_source", enough)
    for name in ("slot", "server", "tables"):
        monkeypatch.setattr(inspect.facts, f"read_{name}", reads(name))
    with pytest.raises(Enough):
        inspect.look(load_home(), DATABASE)
    assert [name for name in read if name != "tables"] == ["slot", "connector", "server"]


@pytest.mark.parametrize(("is_noted", "told"), [(True, ["was emptied or rewritten"]), (False, [])])
def test_a_table_is_held_against_what_it_was_before_its_first_snapshot(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_noted: bool, told: list[str]
) -> None:
    """The first look comes when the snapshot is under way: what it finds may have been rewritten already."""
    monkeypatch.setenv("LAKE_DATA_DIR", str(tmp_path))
    home = load_home()
    if is_noted:
        baseline.note(home, "shop", {"public.a": replace(TABLE, files={"1": 10})})
    applied = [{"database": "shop", "schema": "public", "table": "a", "replica_identity": "full"}]
    monkeypatch.setattr(inspect, "read_pipeline", lambda environment: {"tables": applied})
    monkeypatch.setattr(inspect, "Connect", lambda url: SimpleNamespace(offset=lambda name: None, running=dict))
    monkeypatch.setattr(inspect, "connect_source", lambda *_: nullcontext())
    monkeypatch.setattr(inspect, "read_source", lambda *_: None)
    monkeypatch.setattr(inspect.rules, "of_definition", lambda *_: [])
    monkeypatch.setattr(inspect.facts, "read_slot", lambda *_: SLOT)
    monkeypatch.setattr(inspect.facts, "read_server", lambda *_: SERVER)
    monkeypatch.setattr(inspect.facts, "read_tables", lambda *_: {"public.a": replace(TABLE, files={"1": 11})})
    for _ in range(2):  # the second goes by what the first has kept
        found = [drift.what for drift in inspect.look(home, DATABASE).drifts]
        assert [word for word in told if word in " ".join(found)] == told and len(found) == len(told), found
