"""The control channel: a request, its answer, and what is left of them."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from lake.clients import stream_control
from lake.clients.control import ask, ask_all
from lake.clients.stream_control import FolderChannel
from lake.config.errors import BadInput, LakeError
from lake.config.files import write
from spark_jobs.hudi import table_services
from spark_jobs.runtime import storage
from spark_jobs.streaming import control
from spark_jobs.streaming.control import DONE, Control

Answers = dict[str, tuple[int, dict[str, Any]]]


class Server:
    """Answers each verb at once, unless it does not know it."""

    where, poll_s = "the server", 0.0

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.requests: dict[str, dict[str, Any]] = {}
        self.forgotten: list[str] = []

    def send(self, id: str, request: dict[str, Any]) -> None:
        self.requests[id] = request

    def answer(self, id: str) -> dict[str, Any] | None:
        verb = self.requests[id]["verb"]
        if verb not in self.answers:
            return None
        code, result = self.answers[verb]
        return {"id": id, "code": code, "result": result}

    def forget(self, id: str) -> None:
        self.forgotten.append(id)


def test_a_request_has_an_id_a_verb_and_arguments() -> None:
    server = Server({"status": (0, {"a": "RUNNING"})})
    assert ask(server, "status", {"names": ["a"]}, 1, "look") == {"a": "RUNNING"}
    ((id, request),) = server.requests.items()
    assert request == {"id": id, "verb": "status", "arguments": {"names": ["a"]}}
    assert server.forgotten == list(server.requests)


@pytest.mark.parametrize(("code", "kind"), [(1, LakeError), (2, BadInput)])
def test_an_error_says_where_and_what_now(code: int, kind: type[LakeError]) -> None:
    server = Server({"apply": (code, {"error": "no plug-in"})})
    with pytest.raises(LakeError, match="no plug-in; the server; see the log") as failed:
        ask(server, "apply", {}, 1, "see the log")
    assert type(failed.value) is kind
    assert server.forgotten == list(server.requests)


def test_without_an_answer_the_time_ends() -> None:
    server = Server({"quick": (0, {})})
    seen: list[str] = []
    with pytest.raises(LakeError, match="no answer within 0 s: slow; the server"):
        ask_all(server, {"fast": ("quick", {}), "slow": ("slow", {})}, 0.05, "wait", seen.append)
    assert sorted(server.forgotten) == sorted(server.requests)
    assert set(seen) == {"1 of 2 done; waiting for slow"}


def test_several_requests_have_their_own_results() -> None:
    server = Server({"one": (0, {"n": 1}), "two": (0, {"n": 2})})
    assert ask_all(server, {"a": ("one", {}), "b": ("two", {})}, 1, "") == {"a": {"n": 1}, "b": {"n": 2}}


# --- Both sides of the channel to the streaming job.


def control_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Control:
    """The streaming job's side, without Hadoop's file systems."""
    spark: Any = None
    names = {"names": lambda _, path: os.listdir(path) if os.path.exists(path) else []}
    functions = names | {
        "read_text": lambda _, path: Path(path).read_text(),
        "write_text": lambda _, path, text: write(Path(path + ".next"), text).replace(path),
        "delete": lambda _, path: Path(path).unlink(missing_ok=True),
    }
    for name, function in functions.items():
        monkeypatch.setattr(storage, name, function)
    return Control(spark, str(folder))


def test_both_sides_know_the_same_verbs() -> None:
    ours = {
        stream_control.COMPACT,
        stream_control.DELETE_ORPHANS,
        stream_control.REPLAY,
        stream_control.DROP,
        stream_control.REREAD,
    }
    assert ours == set(control.VERBS)
    assert {table_services.COMPACT, table_services.DELETE_ORPHANS} < ours


def test_a_request_stays_until_it_has_its_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    channel, server = FolderChannel(tmp_path, "here"), control_of(tmp_path, monkeypatch)
    channel.send("1", {"id": "1", "verb": "compact", "arguments": {"table": "shop_mor.a"}})
    (request,) = server.pending("compact")
    assert server.pending("compact", "drop") == [request] and server.has_requests(), "it survives a crash"
    assert (server.pending("drop"), channel.answer("1")) == ([], None)
    server.answer(request, DONE, {})
    assert (server.has_requests(), channel.answer("1")) == (False, {"id": "1", "code": 0, "result": {}})
    channel.forget("1")
    assert list(tmp_path.rglob("*.json")) == []


@pytest.mark.parametrize("text", ["{", "[]", '{"verb": "compact"}', '{"verb": "erase", "arguments": {}}'])
def test_what_is_no_request_is_answered_as_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    server = control_of(tmp_path, monkeypatch)
    (tmp_path / "1.json").write_text(text)
    (tmp_path / "2.json.new").write_text(text)  # is being written
    assert server.pending(*control.VERBS) == []
    assert json.loads((tmp_path / "answers" / "1.json").read_text())["code"] == 2
    assert not server.has_requests()


def test_an_answer_that_nobody_read_is_deleted_in_the_end(tmp_path: Path) -> None:
    old, new = (write(tmp_path / "answers" / f"{name}.json", "{}") for name in ("old", "new"))
    os.utime(old, (time.time() - 2 * stream_control.KEPT_S,) * 2)
    FolderChannel(tmp_path, "here").forget("mine")
    assert (old.exists(), new.exists()) == (False, True)
