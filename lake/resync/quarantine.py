"""Requests to replay or drop messages in quarantine."""

import getpass
import json
import uuid
from typing import Any

from rich.console import Console

from lake.clients.stream_requests import await_answer
from lake.config.files import write
from lake.config.home import Home
from lake.local.status import refuse_stopped


def give_up(home: Home, database: str, bounds: dict[str, int], timeout_s: float) -> list[str]:
    """Drops the messages with an order below their topic's bound, and returns their ids. Their rows were read again.

    A replay would bring such a row back: if its delete was lost, the lake has no newer version of it.
    """
    return list(ask(home, "drop", database, [], timeout_s, bounds=bounds)["settled"])


def ask(
    home: Home, action: str, database: str, ids: list[str], timeout_s: float, **more: dict[str, int]
) -> dict[str, Any]:
    """The streaming job's answer (quarantine_requests.py there); LakeError when it does not come in time."""
    refuse_stopped(home)
    request = home.data / "requests" / "quarantine" / f"{uuid.uuid4().hex}.json"
    content = {"action": action, "database": database, "ids": ids, "by": getpass.getuser(), **more}
    write(request.with_suffix(".next"), json.dumps(content)).replace(request)
    answer = request.with_suffix(".done")
    with Console(stderr=True).status("waiting for the streaming job"):
        await_answer(home, answer, timeout_s)
    try:
        return dict(json.loads(answer.read_text(encoding="utf-8")))
    finally:
        answer.unlink()
