"""The control channel: requests to a program that runs elsewhere, and its answers.

A request is the file <requests>/<id>.json with {"id", "verb", "arguments"}. Its answer is the file <answers>/<id>.json
with {"id", "code", "result"}: code 0 with the result of the verb; 1 if it failed or 2 if the request is wrong, both
with {"error": why} as the result. The server writes the answer before it deletes the request, and each verb may be
done twice: a request outlives a crash of either side.
"""

import uuid
from collections.abc import Mapping
from typing import Any, Protocol

from lake.config.errors import BadInput, LakeError
from lake.config.report import Report, silent
from lake.config.waiting import wait_while

WRONG = 2
Content = dict[str, Any]


class Channel(Protocol):
    """Two folders of small files: of requests, and of answers."""

    where: str  # as an error names it

    @property
    def poll_s(self) -> float: ...

    def send(self, id: str, request: Content) -> None:
        """Writes a request in one step."""

    def answer(self, id: str) -> Content | None:
        """The answer; None before there is one."""

    def forget(self, id: str) -> None:
        """Deletes what is left of a request that has an answer, or whose time is over."""


def ask(channel: Channel, verb: str, arguments: Content, timeout_s: float, now: str) -> Content:
    """The result of one request. BadInput if it was wrong, LakeError if it failed or had no answer in time.

    now: what the user can do about a failure.
    """
    (result,) = ask_all(channel, {verb: (verb, arguments)}, timeout_s, now).values()
    return result


def ask_all(
    channel: Channel,
    requests: Mapping[str, tuple[str, Content]],
    timeout_s: float,
    now: str,
    report: Report = silent,
) -> dict[str, Content]:
    """The results of several requests, each by its name. Reports which ones are not done yet."""
    ids = {name: uuid.uuid4().hex for name in requests}
    for name, (verb, arguments) in requests.items():
        channel.send(ids[name], {"id": ids[name], "verb": verb, "arguments": arguments})
    answers: dict[str, Content] = {}

    def pending() -> list[str]:
        for name in ids.keys() - answers.keys():
            if (found := channel.answer(ids[name])) is not None:
                answers[name] = found
        return [name for name in ids if name not in answers]

    try:
        wait_while(
            pending,
            timeout_s,
            lambda left: LakeError(f"no answer within {timeout_s:.0f} s: {', '.join(left)}", channel.where, now),
            lambda left: report(f"{len(answers)} of {len(ids)} done; waiting for {left[0]}"),
            channel.poll_s,
        )
    finally:
        for id in ids.values():
            channel.forget(id)
    return {name: _result(answer, channel.where, now) for name, answer in answers.items()}


def _result(answer: Content, where: str, now: str) -> Content:
    if answer["code"]:
        kind = BadInput if answer["code"] == WRONG else LakeError
        raise kind(answer["result"]["error"], where, now)
    return dict(answer["result"])
