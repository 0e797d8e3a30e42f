"""Requests to the streaming job: files whose presence asks, and whose absence answers."""

from collections.abc import Callable
from pathlib import Path

from lake.config.errors import LakeError
from lake.config.home import Home
from lake.config.secrets import write_private
from lake.config.waiting import wait_until, wait_while


def request(home: Home, name: str, text: str = "") -> Path:
    """Asks: name is that of a Hudi table, with an ending for what is not its table services."""
    path = home.data / "requests" / name
    write_private(path, text)
    return path


def await_done(home: Home, asked: list[Path], timeout_s: float, report: Callable[[str], None]) -> None:
    """Returns once no request is left; LakeError names those that are, which stay asked for."""
    wait_while(
        lambda: [path.name for path in asked if path.exists()],
        timeout_s,
        lambda left: _late(home, f"not done within {timeout_s:.0f} s: {', '.join(left)}"),
        lambda left: report(f"{len(asked) - len(left)} of {len(asked)} done; waiting for {left[0]}"),
    )


def await_answer(home: Home, answer: Path, timeout_s: float) -> None:
    """Returns once the file is there; LakeError when the time is over, and what was asked for stays asked for."""
    what = f"no answer within {timeout_s:.0f} s; what was asked for stays asked for"
    wait_until(answer.exists, timeout_s, _late(home, what))


def _late(home: Home, what: str) -> LakeError:
    return LakeError(what, str(home.log("stream")), "see: lake status, lake logs stream")
