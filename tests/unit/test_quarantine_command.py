"""`lake quarantine`: what is asked of the streaming job, and how its answer is told."""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from lake.cli import quarantine
from lake.config.environment import Environment
from lake.config.errors import BadInput, LakeError
from lake.resync import quarantine as requests
from spark_jobs.streaming.control import DONE, DROP, FAILED, REPLAY, Request
from tests.unit.test_control import control_of

Serve = Callable[..., list[Request]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    monkeypatch.setattr(requests, "refuse_stopped", lambda home: None)
    monkeypatch.setattr(quarantine, "load_environment", lambda: made)
    made = Environment(name="local", root=tmp_path)
    path = made.rendered / "pipeline.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"quarantine": {"moma": {}, "shop": {}}}))
    return made


@pytest.fixture
def serve(home: Environment, monkeypatch: pytest.MonkeyPatch) -> Serve:
    """A streaming job that answers the next request; returns the list of requests."""
    control = control_of(home.data / "requests", monkeypatch)

    def serve(result: dict[str, Any], code: int = DONE) -> list[Request]:
        served: list[Request] = []

        def work() -> None:
            while not (found := control.pending(REPLAY, DROP)):
                time.sleep(0.01)
            served.extend(found)
            control.answer(found[0], code, result)

        threading.Thread(target=work, daemon=True).start()
        return served

    return serve


def left(home: Environment) -> list[str]:
    return [path.name for path in (home.data / "requests").rglob("*.json")]


def test_a_request_and_its_answer(home: Environment, serve: Serve) -> None:
    served = serve({"settled": ["a"], "refused": []})
    assert requests.ask(home, "replay", "shop", ["a"], 10) == {"settled": ["a"], "refused": []}
    ((_, verb, arguments),) = served
    assert (verb, arguments["database"], arguments["ids"]) == ("replay", "shop", ["a"])
    assert arguments["by"]
    assert left(home) == []


def test_a_job_that_fails_says_why(home: Environment, serve: Serve) -> None:
    serve({"error": "no such bucket"}, FAILED)
    with pytest.raises(LakeError, match="no such bucket"):
        requests.ask(home, "replay", "shop", ["a"], 10)
    assert left(home) == []


def test_what_was_read_again_since_is_dropped(home: Environment, serve: Serve) -> None:
    served = serve({"settled": ["a"], "refused": []})
    assert requests.give_up(home, "shop", {"shop.public.a": 7}, 10) == ["a"]
    assert [(one.verb, one.arguments["ids"], one.arguments["bounds"]) for one in served] == [
        ("drop", [], {"shop.public.a": 7})
    ]


def test_no_answer(home: Environment) -> None:
    with pytest.raises(LakeError, match="stays queued"):
        requests.ask(home, "drop", "shop", [], 0.3)
    assert len(left(home)) == 1


def test_what_is_refused_ends_with_one(home: Environment, serve: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    serve({"settled": ["a"], "refused": []})
    quarantine.replay("shop", [], 10, True)
    serve({"settled": [], "refused": [{"id": "b", "reason": "no"}]})
    with pytest.raises(typer.Exit) as ended:
        quarantine.replay("shop", [], 10, False)
    assert ended.value.exit_code == 1
    assert "refused: b: no" in capsys.readouterr().err


def test_a_database_that_is_not_there(home: Environment) -> None:
    with pytest.raises(BadInput, match="there is no database 'shp'; command line; choose from: moma, shop"):
        quarantine.replay("shp", [], 10, False)


def test_bytes_can_be_read() -> None:
    assert list(quarantine.hex_dump(b"\x00\x00\x00\x00\x07abc\xff" + b"0123456789")) == [
        "00000000  00 00 00 00 07 61 62 63 ff 30 31 32 33 34 35 36  .....abc.0123456",
        "00000010  37 38 39                                         789",
    ]
