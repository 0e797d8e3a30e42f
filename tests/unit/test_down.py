"""What `lake down` says of the log that sources keep for the lake, and what gives it up."""

from pathlib import Path
from typing import Any

import pytest

from lake.cli import services
from lake.config.environment import Environment, load_environment
from lake.config.errors import BadInput
from lake.config.source import SourceServer
from lake.resync import slots
from lake.sources.engine import Kept
from lake.sources.postgres import capture
from lake.state import applied, dropped
from tests.unit.test_plan import shop

SHOP = shop(a={"key": ["id"]})
OWN = SHOP.model_copy(update={"database": "own", "source": SourceServer(host="db")})
MIB = 2**20


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Environment:
    monkeypatch.setenv("LAKE_DATA_DIR", str(tmp_path))
    found = load_environment()
    applied.save(found, [SHOP, OWN])
    return found


@pytest.mark.parametrize(
    ("kept", "told"),
    [
        (Kept(3 * MIB, 5 * MIB), "own: slot lake_own retains 3.0 MiB of log; db:5432 keeps all that it writes until the"
         " next lake up, and gives the slot up after 5.0 MiB more"),
        (Kept(3 * MIB, None), "without a limit: its disk may fill"),
        (None, ""),
    ],
)  # fmt: skip
def test_what_a_server_of_ones_own_keeps(
    home: Environment, monkeypatch: pytest.MonkeyPatch, kept: Kept | None, told: str
) -> None:
    monkeypatch.setattr(capture, "kept", lambda *_: kept)
    said = list(slots.described(home, [OWN]))
    assert [told in line for line in said] == ([True] if told else [])


def test_a_server_that_does_not_answer_is_named_and_that_of_the_lake_is_down(
    home: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: Any) -> Kept:
        raise BadInput("it does not answer", "", "")

    monkeypatch.setattr(capture, "kept", none)
    assert list(slots.described(home, [SHOP, OWN])) == [
        "own: slot lake_own of db:5432 keeps its log: it does not answer"
    ]


def test_nothing_is_dropped_without_consent(
    home: Environment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(capture, "kept", lambda *_: Kept(MIB, None))
    assert services.given_up(home, drop_slots=False) == []
    assert "lake down --drop-slots" in capsys.readouterr().err
    assert services.given_up(home, drop_slots=True) == [SHOP, OWN]
    monkeypatch.setattr(services.sys.stdin, "isatty", lambda: True)
    for answer, expected in ((False, []), (True, [OWN])):
        monkeypatch.setattr(services.typer, "confirm", lambda *_, said=answer, **__: said)
        assert services.given_up(home, drop_slots=False) == expected


def test_what_was_dropped_is_known_until_its_tables_were_read(
    home: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(slots, "Stack", lambda _: (_ for _ in ()).throw(BadInput("down", "", "")))
    monkeypatch.setattr(slots, "stop_connector", lambda _, one: asked.append(one.database))
    monkeypatch.setattr(capture, "reset", lambda *_: True)
    slots.drop(home, [OWN], lambda line: None)
    assert asked == dropped.databases(home) == ["own"]
    assert slots.captured(home) == [SHOP]
    dropped.forget(home, "own")
    assert slots.captured(home) == [SHOP, OWN]
