"""Waiting ends when nothing is left, or when nothing has changed for the time given."""

import time

import pytest

from lake.config.errors import LakeError
from lake.config.waiting import wait_while


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second passes with each look."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(time, "sleep", lambda _: now.__setitem__(0, now[0] + 1))


def late(left: list[str]) -> LakeError:
    return LakeError(f"late: {left}", "here", "look")


@pytest.mark.usefixtures("clock")
def test_time_is_counted_from_the_last_progress() -> None:
    looks = iter([f"{rows} of 9" for rows in range(9) for _ in range(3)])
    wait_while(lambda: [one] if (one := next(looks, "")) else [], 4, late, since_progress=True)


@pytest.mark.usefixtures("clock")
def test_what_stands_still_is_late() -> None:
    with pytest.raises(LakeError, match="5 of 9"):
        wait_while(lambda: ["5 of 9"], 4, late, since_progress=True)


@pytest.mark.usefixtures("clock")
def test_otherwise_progress_gives_no_more_time() -> None:
    looks = iter(range(100))
    with pytest.raises(LakeError, match="late"):
        wait_while(lambda: [str(next(looks))], 4, late)
