"""What becomes of work that is killed: tried in a copy of the account, so that many kills need one deployment.

The work is a fork of the copy, and gets SIGKILL from the copy's server at its nth request.
"""

import os
import signal
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import count
from typing import Any

from tests.emulated_account.account import Door
from tests.emulated_account.copies import in_copy

Work = Callable[[], None]
Look = Callable[[], list[str]]
NEVER = 0


@dataclass(frozen=True)
class Outcome:
    """requests: until the kill, or to the end; left: what the look found after the second run; error: its failure."""

    requests: int
    killed: bool
    left: list[str]
    error: str
    unknown: list[str]


def killed_at(door: Door, request: int, work: Work, look: Look) -> Outcome:
    """The work killed at that request, counted from 1, or not at all at NEVER; then run again, undisturbed."""

    def disturb() -> dict[str, Any]:
        requests, killed = _disturbed(door, request, work)
        error = "" if _forked(work) == 0 else "the second run failed"
        return asdict(Outcome(requests, killed, look(), error, door.account.journal.take()))

    return Outcome(**in_copy(door, disturb))


def _disturbed(door: Door, request: int, work: Work) -> tuple[int, bool]:
    numbers, heard, worker = count(1), [0], _fork(work)

    def hear() -> None:
        heard[0] = next(numbers)
        if heard[0] == request:
            os.kill(worker, signal.SIGKILL)

    # The worker waits for this: it starts when the door listens to it.
    door.account.front.heard = hear
    os.kill(worker, signal.SIGCONT)
    _, status = os.waitpid(worker, 0)
    door.account.front.heard = lambda: None
    return heard[0], os.WIFSIGNALED(status)


def _forked(work: Work) -> int:
    worker = _fork(work)
    os.kill(worker, signal.SIGCONT)
    return os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])


def _fork(work: Work) -> int:
    """A process that stands still until SIGCONT."""
    worker = os.fork()
    if worker == 0:
        os.kill(os.getpid(), signal.SIGSTOP)
        try:
            work()
        except BaseException as error:
            os.write(2, f"{error}\n".encode())
            os._exit(1)
        os._exit(0)
    os.waitpid(worker, os.WUNTRACED)
    return worker
