"""What the guardian did to a source is named until the table was read again."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from lake.config.environment import Environment, load_environment
from lake.config.errors import LakeError
from lake.guardian import protect
from lake.sources.change import Change
from lake.sources.postgres import protection
from lake.state import baseline
from tests.unit.test_guard_rules import DATABASE, SERVER, TABLE

OUT = "was taken out of the publication, because its updates failed"


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Environment:
    monkeypatch.setenv("LAKE_DATA_DIR", str(tmp_path))
    return load_environment()


def test_what_was_done_is_kept_until_the_baseline_has_it(home: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protection, "protect", lambda *_: {"public.a": OUT})
    protect.protect(home, DATABASE)
    notes = baseline.noted_losses(home, "shop")
    assert list(notes.values()) == [{"public.a": OUT}]
    (lost,) = baseline.Baseline(SERVER, {"public.a": TABLE}).with_losses(*notes.values()).tables.values()
    assert lost.loss_reason == OUT
    baseline.forget_notes(notes)
    assert baseline.noted_losses(home, "shop") == {}


def test_a_source_that_does_not_answer_does_not_end_the_protection(
    home: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> dict[str, str]:
        raise LakeError("PostgreSQL does not answer", "here", "start it")

    monkeypatch.setattr(protection, "protect", away)
    assert "PostgreSQL does not answer" in protect.protect(home, DATABASE)
    assert baseline.noted_losses(home, "shop") == {}


class Notice:
    """A connection in which each statement says that a table was taken out."""

    def __init__(self, schema: str, table: str) -> None:
        self.said = SimpleNamespace(schema_name=schema, table_name=table, message_primary=OUT)

    def __enter__(self) -> "Notice":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def add_notice_handler(self, handler: Callable[[object], None]) -> None:
        self.handler = handler

    def execute(self, _: bytes) -> None:
        self.handler(self.said)


def test_a_table_is_named_as_the_definition_has_it(home: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the loss would belong to a table that nobody knows."""
    monkeypatch.setattr(protection, "connect_source", lambda *_: Notice("a.b", 'c"d'))
    monkeypatch.setattr(protection, "unmet", lambda *_: [Change("source", "shop", "t", "cure", "DO")])
    assert protection.protect(home, DATABASE) == {'"a.b"."c""d"': OUT}
