"""Requests to replay or discard messages in quarantine."""

import getpass
from typing import Any

from rich.console import Console

from lake.clients.stream_control import DROP, ask_stream
from lake.config.environment import Environment
from lake.local.status import refuse_stopped


def give_up(home: Environment, database: str, bounds: dict[str, int], timeout_s: float) -> list[str]:
    """Discards the messages with an order below their topic's bound, and returns their ids. Their rows were read again.

    A replay could restore such a row: if its delete was lost, the lake has no newer version of it.
    """
    return list(ask(home, DROP, database, [], timeout_s, bounds=bounds)["settled"])


def ask(
    home: Environment, verb: str, database: str, ids: list[str], timeout_s: float, **more: dict[str, int]
) -> dict[str, Any]:
    """The result of the streaming job (quarantine_requests.py there). LakeError if it does not come in time."""
    refuse_stopped(home)
    arguments = {"database": database, "ids": ids, "by": getpass.getuser(), **more}
    with Console(stderr=True).status("waiting for the streaming job"):
        return ask_stream(home, {verb: (verb, arguments)}, timeout_s)[verb]
