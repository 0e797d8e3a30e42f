"""For how long a connector makes no progress."""

from dataclasses import replace
from typing import Any

import pytest

from lake.guardian import progress
from lake.sources.postgres.facts import Slot
from tests.clocks import replace_time

READ = Slot("pgoutput", "shop", "extended", 500, 10**10, True, "lake_capture", 700)


@pytest.mark.parametrize(
    ("later", "position", "still_s"),
    [
        ({}, 500, 10.0),
        ({"retained_bytes": 2 * 10**10}, 500, 10.0),  # the log grows, that is all
        ({"sent": 900}, 500, 0.0),  # a large transaction is decoded
        ({}, 501, 0.0),  # it is read
        ({"captured": 501}, 500, 0.0),
        ({"active": False, "sent": None}, 500, 0.0),  # as during a first snapshot
    ],
)
def test_progress(later: dict[str, Any], position: int, still_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    replace_time(monkeypatch, progress, monotonic=lambda: now)
    seen = progress.CaptureProgress()
    assert seen.still_s(READ, 500) == 0.0
    now += 10
    assert seen.still_s(replace(READ, **later), position) == still_s


def test_without_a_slot_nothing_stands_still() -> None:
    assert progress.CaptureProgress().still_s(None, 500) == pytest.approx(0.0, abs=1.0)
