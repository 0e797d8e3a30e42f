"""Waits until nothing is left, for a limited time."""

import time
from collections.abc import Callable

from lake.config.errors import LakeError

POLL_S = 0.2


def wait_while(
    left: Callable[[], list[str]],
    timeout_s: float,
    late: Callable[[list[str]], LakeError],
    report: Callable[[list[str]], None] = lambda _: None,
    poll_s: float = POLL_S,
) -> None:
    """Returns once left() is empty, and reports what it contains before that.

    When the time is over, raises late() of what is left.
    """
    deadline = time.monotonic() + timeout_s
    while names := left():
        if time.monotonic() > deadline:
            raise late(names)
        report(names)
        time.sleep(poll_s)


def wait_until(is_so: Callable[[], bool], timeout_s: float, late: LakeError, poll_s: float = POLL_S) -> None:
    """Returns once it is so; raises late when it is not in time."""
    wait_while(lambda: [] if is_so() else ["it"], timeout_s, lambda _: late, poll_s=poll_s)
