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
    since_progress: bool = False,
) -> None:
    """Returns once left() is empty; until then it reports what is left.

    When the time is over, it raises late(what is left). since_progress: the time begins again whenever what is left
    changes, so that a machine that is slow may take longer.
    """
    deadline, last = time.monotonic() + timeout_s, None
    while names := left():
        if since_progress and names != last:
            deadline, last = time.monotonic() + timeout_s, names
        if time.monotonic() > deadline:
            raise late(names)
        report(names)
        time.sleep(poll_s)


def becomes(is_so: Callable[[], bool], timeout_s: float, poll_s: float = POLL_S) -> bool:
    """Waits until is_so(); whether it was so in time."""
    deadline = time.monotonic() + timeout_s
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(poll_s)
    return True


def wait_until(is_so: Callable[[], bool], timeout_s: float, late: LakeError, poll_s: float = POLL_S) -> None:
    """Returns once is_so() is true; raises late when the time is over."""
    wait_while(lambda: [] if is_so() else ["it"], timeout_s, lambda _: late, poll_s=poll_s)
