"""Time as a test has it."""

import time
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

HANG_S = 900.0  # what takes longer hangs; on a busy machine what takes seconds elsewhere takes minutes
LOOK_EVERY_S = 0.1


def until(is_so: Callable[[], bool], otherwise: str) -> None:
    """Returns once it is so; AssertionError when it hangs."""
    end = time.monotonic() + HANG_S
    while not is_so():
        assert time.monotonic() < end, otherwise
        time.sleep(LOOK_EVERY_S)


def replace_time(monkeypatch: pytest.MonkeyPatch, module: ModuleType, **functions: Any) -> None:
    """Functions of `time` for one module alone: the threads of libraries go by the same `time` as it does.

    One of py4j's ends for good with what a replaced `sleep` raises, and then the JVM lets go of no object any more.
    """
    monkeypatch.setattr(module, "time", SimpleNamespace(**{**vars(time), **functions}))
