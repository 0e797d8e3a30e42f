"""Time as a test has it."""

import time
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

HANG_S = 900.0  # what takes longer hangs; on a busy machine what takes seconds elsewhere takes minutes


def replace_time(monkeypatch: pytest.MonkeyPatch, module: ModuleType, **functions: Any) -> None:
    """Functions of `time` for one module alone: the threads of libraries go by the same `time` as it does.

    One of py4j's ends for good with what a replaced `sleep` raises, and then the JVM lets go of no object any more.
    """
    monkeypatch.setattr(module, "time", SimpleNamespace(**{**vars(time), **functions}))
