"""What a service that goes away in the middle of `lake apply` means for the exit code."""

import re
from pathlib import Path
from typing import Any

import pytest

from lake.config.definition import Database
from lake.config.environment import Environment
from lake.config.errors import BadInput, LakeError, in_the_middle
from lake.plan import apply
from lake.plan.facts import Facts
from lake.sources.change import Change
from lake.sources.postgres import capture, leaving, preparation
from lake.state import baseline

SHOP = Database.model_validate({"database": "shop", "tables": {"public.a": {"key": ["id"]}}})
PLANNED = [
    Change("source", "shop", "lake_shop", "create publication", "CREATE PUBLICATION lake_shop"),
    Change("connector", "shop", "source_postgres_shop", "create", ""),
]


def test_a_service_that_goes_away_in_the_middle_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: Any) -> None:
        raise BadInput("PostgreSQL does not answer", "PostgreSQL at 127.0.0.1:1", "run: lake up")

    executed: list[str] = []
    monkeypatch.setattr(
        preparation, "execute", lambda place, database, group: executed.extend(change.detail for change in group)
    )
    monkeypatch.setattr(baseline, "note", lambda *_: None)
    monkeypatch.setattr(leaving, "note_identities", lambda *_: None)
    monkeypatch.setattr(capture, "reader", gone)
    facts = Facts({}, [], {}, {}, {})
    failures = apply.apply(PLANNED, [SHOP], Environment(name="local", root=tmp_path), facts, print)
    assert list(failures) == ["shop"]
    said = r".*does not answer, and part of the work may be done.*then run: lake apply"
    assert re.match(said, str(failures["shop"]))
    assert (failures["shop"].exit_code, executed) == (1, ["CREATE PUBLICATION lake_shop"])


def test_a_failure_stays_as_it_is() -> None:
    with pytest.raises(LakeError, match=r"^Kafka refused; topic a; see") as failed, in_the_middle("lake apply"):
        raise LakeError("Kafka refused", "topic a", "see: lake logs kafka")
    assert failed.value.exit_code == 1
