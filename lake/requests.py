"""Requests to the streaming job: files whose presence asks, and whose absence answers (spark_jobs/services.py)."""

import time
from collections.abc import Callable
from pathlib import Path

from lake.errors import LakeError
from lake.local.home import Home
from lake.local.secrets import write_private
from lake.status import services

POLL_S = 0.2


def request(home: Home, name: str, text: str = "") -> Path:
    """Asks: name is that of a Hudi table, with an ending for what is not its table services."""
    path = home.data / "requests" / name
    write_private(path, text)
    return path


def refuse_stopped(home: Home) -> None:
    """LakeError when nobody would honour a request."""
    if not any(line.name == "stream" and line.state == "running" for line in services(home)):
        raise LakeError("the streaming job, which would do it, does not run", "stream", "run: lake up")


def await_done(home: Home, asked: list[Path], timeout_s: float, report: Callable[[str], None]) -> None:
    """Returns once no request is left; LakeError names those that are, which stay asked for."""
    deadline = time.monotonic() + timeout_s
    while left := [path.name for path in asked if path.exists()]:
        if time.monotonic() > deadline:
            what = f"not done within {timeout_s:.0f} s: {', '.join(left)}"
            raise LakeError(what, str(home.logs / "stream.log"), "see: lake status, lake logs stream")
        report(f"{len(asked) - len(left)} of {len(asked)} done; waiting for {left[0]}")
        time.sleep(POLL_S)
