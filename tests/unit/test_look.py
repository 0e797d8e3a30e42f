"""The order in which the guardian reads what goes on meanwhile."""

from contextlib import nullcontext
from typing import Any

import pytest

from lake.guard import look
from lake.local.home import load_home
from tests.unit.test_guard_rules import DATABASE


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
            self.offset, self.configs = reads("connector"), dict

    monkeypatch.setattr(look, "Connect", Connect)
    monkeypatch.setattr(look, "connect_source", lambda *_: nullcontext())
    monkeypatch.setattr(look, "read_source", enough)
    for name in ("slot", "server", "tables"):
        monkeypatch.setattr(look.facts, f"read_{name}", reads(name))
    with pytest.raises(Enough):
        look.look(load_home(), DATABASE)
    assert [name for name in read if name != "tables"] == ["slot", "connector", "server"]
