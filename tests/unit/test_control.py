"""The control channel: a request, its answer, and what is left of them."""

from typing import Any

import pytest

from lake.clients.control import ask, ask_all
from lake.config.errors import BadInput, LakeError

Answers = dict[str, tuple[int, dict[str, Any]]]


class Server:
    """Answers each verb at once, unless it does not know it."""

    where, poll_s = "the server", 0.0

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.requests: dict[str, dict[str, Any]] = {}
        self.forgotten: list[bool] = []

    def send(self, id: str, request: dict[str, Any]) -> None:
        self.requests[id] = request

    def answer(self, id: str) -> dict[str, Any] | None:
        verb = self.requests[id]["verb"]
        if verb not in self.answers:
            return None
        code, result = self.answers[verb]
        return {"id": id, "code": code, "result": result}

    def forget(self, id: str, pending: bool) -> None:
        self.forgotten.append(pending)


def test_a_request_has_an_id_a_verb_and_arguments() -> None:
    server = Server({"status": (0, {"a": "RUNNING"})})
    assert ask(server, "status", {"names": ["a"]}, 1, "look") == {"a": "RUNNING"}
    ((id, request),) = server.requests.items()
    assert request == {"id": id, "verb": "status", "arguments": {"names": ["a"]}}
    assert server.forgotten == [False]


@pytest.mark.parametrize(("code", "kind"), [(1, LakeError), (2, BadInput)])
def test_an_error_says_where_and_what_now(code: int, kind: type[LakeError]) -> None:
    server = Server({"apply": (code, {"error": "no plug-in"})})
    with pytest.raises(LakeError, match="no plug-in; the server; see the log") as failed:
        ask(server, "apply", {}, 1, "see the log")
    assert type(failed.value) is kind
    assert server.forgotten == [False]


def test_without_an_answer_the_time_ends() -> None:
    server = Server({"quick": (0, {})})
    seen: list[str] = []
    with pytest.raises(LakeError, match="no answer within 0 s: slow; the server"):
        ask_all(server, {"fast": ("quick", {}), "slow": ("slow", {})}, 0.05, "wait", seen.append)
    assert sorted(server.forgotten) == [False, True]
    assert set(seen) == {"1 of 2 done; waiting for slow"}


def test_several_requests_have_their_own_results() -> None:
    server = Server({"one": (0, {"n": 1}), "two": (0, {"n": 2})})
    assert ask_all(server, {"a": ("one", {}), "b": ("two", {})}, 1, "") == {"a": {"n": 1}, "b": {"n": 2}}
