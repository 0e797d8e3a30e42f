"""Waits until nothing is missing, and prints progress meanwhile."""

import sys
import time
from typing import Callable, NamedTuple

LOOK_EVERY_S = 0.5
SILENT_S = 2.0  # before the first word about what is waited for
PROGRESS_EVERY_S = 5.0
STARTED = time.monotonic()


class NotCovered(Exception):
    """The lake has not caught up; the message says what is missing."""


class Deadline(NamedTuple):
    """When to give up, in time.monotonic() seconds."""

    at: float

    def passed(self) -> bool:
        return time.monotonic() > self.at


def wait_until(missing_now: Callable[[], str], deadline: Deadline) -> None:
    """Returns when nothing is missing (''). Raises NotCovered with the last answer when the time is over."""
    next_word = time.monotonic() + SILENT_S
    while True:
        missing = missing_now()
        if not missing:
            return
        if deadline.passed():
            raise NotCovered(missing)
        if time.monotonic() > next_word:
            next_word = time.monotonic() + PROGRESS_EVERY_S - LOOK_EVERY_S
            print_progress("waiting: " + missing)
        time.sleep(LOOK_EVERY_S)


def print_progress(line: str) -> None:
    """A line of progress with the seconds since the start."""
    sys.stderr.write("verify: {:6.1f} s  {}\n".format(time.monotonic() - STARTED, line))
    sys.stderr.flush()
