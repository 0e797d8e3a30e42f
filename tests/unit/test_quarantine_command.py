"""`lake quarantine`: what is asked of the streaming job, and how its answer is told."""

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import typer

from lake.cli import quarantine
from lake.config.environment import Environment
from lake.config.errors import BadInput, LakeError
from lake.config.home import Home
from lake.resync import quarantine as requests


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setattr(requests, "refuse_stopped", lambda home: None)
    monkeypatch.setattr(quarantine, "load_home", lambda: made)
    made = Home(Environment(name="local", root=tmp_path))
    path = made.rendered / "pipeline.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"quarantine": {"moma": {}, "shop": {}}}))
    return made


def answering(home: Home, answer: dict[str, Any]) -> list[dict[str, Any]]:
    """A streaming job that answers the next request; what it was asked."""
    folder, asked = home.data / "requests" / "quarantine", list[dict[str, Any]]()

    def serve() -> None:
        while not (found := list(folder.glob("*.json"))):
            time.sleep(0.01)
        asked.append(json.loads(found[0].read_text()))
        found[0].with_suffix(".next").write_text(json.dumps(answer))
        found[0].with_suffix(".next").replace(found[0].with_suffix(".done"))
        found[0].unlink()

    threading.Thread(target=serve, daemon=True).start()
    return asked


def test_a_request_and_its_answer(home: Home) -> None:
    asked = answering(home, {"settled": ["a"], "refused": []})
    assert requests.ask(home, "replay", "shop", ["a"], 10) == {"settled": ["a"], "refused": []}
    assert [(one["action"], one["database"], one["ids"]) for one in asked] == [("replay", "shop", ["a"])]
    assert asked[0]["by"]
    assert list((home.data / "requests" / "quarantine").glob("*.done")) == []


def test_what_was_read_again_since_is_given_up(home: Home) -> None:
    asked = answering(home, {"settled": ["a"], "refused": []})
    assert requests.give_up(home, "shop", {"shop.public.a": 7}, 10) == ["a"]
    assert [(one["action"], one["ids"], one["bounds"]) for one in asked] == [("drop", [], {"shop.public.a": 7})]


def test_no_answer(home: Home) -> None:
    with pytest.raises(LakeError, match="stays asked for"):
        requests.ask(home, "drop", "shop", [], 0.3)
    assert len(list((home.data / "requests" / "quarantine").glob("*.json"))) == 1


def test_what_is_refused_ends_with_one(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    answering(home, {"settled": ["a"], "refused": []})
    quarantine.replay("shop", [], 10, True)
    answering(home, {"settled": [], "refused": [{"id": "b", "reason": "no"}]})
    with pytest.raises(typer.Exit) as ended:
        quarantine.replay("shop", [], 10, False)
    assert ended.value.exit_code == 1
    assert "refused: b: no" in capsys.readouterr().err


def test_a_database_that_is_not_there(home: Home) -> None:
    with pytest.raises(BadInput, match="there is no database 'shp'; command line; choose from: moma, shop"):
        quarantine.replay("shp", [], 10, False)


def test_bytes_can_be_read() -> None:
    assert list(quarantine.hex_dump(b"\x00\x00\x00\x00\x07abc\xff" + b"0123456789")) == [
        "00000000  00 00 00 00 07 61 62 63 ff 30 31 32 33 34 35 36  .....abc.0123456",
        "00000010  37 38 39                                         789",
    ]
