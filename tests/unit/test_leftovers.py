"""Each server that the lake knows is asked once for what no definition knows."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lake.config.environment import load_environment
from lake.config.errors import BadInput
from lake.config.source import SourceServer
from lake.guardian.leftovers import of_servers
from lake.sources.drift import Drift
from lake.sources.postgres import leftovers
from tests.unit.test_plan import shop

OWN = SourceServer(host="db", port=5433)
SHOP = shop(a={"key": ["id"]})


def test_each_server_is_asked_with_its_own_databases(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[tuple[str, list[str]]] = []

    def found(home: Any, source: SourceServer | None, known: list[str]) -> Iterator[Drift]:
        asked.append((source.place if source else "", known))
        if source is None:
            raise BadInput("PostgreSQL does not answer", "", "")
        yield Drift("old", "", f"slot lake_old of {source.place}", "drop it")

    monkeypatch.setattr(leftovers, "leftovers", found)
    own = [SHOP.model_copy(update={"database": name, "source": OWN}) for name in ("x", "y")]
    (drift,) = of_servers(load_environment(), [SHOP, *own])
    assert asked == [("", ["shop"]), ("db:5433", ["x", "y"])]
    assert drift.what == "slot lake_old of db:5433"
