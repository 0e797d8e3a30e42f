"""A short choice of trials: the first snapshot of a database, and the stream after it."""

import pytest

from tests.faults.process_faults import Kill
from tests.faults.rig import Rig
from tests.faults.trial import Entry, Void, in_snapshot

pytestmark = [pytest.mark.integration, pytest.mark.slow]
SIZE = 24_000  # a second of reading; a machine that is done before it is seen to begin reads four times as much


@pytest.mark.matrix("1, 6", "kill -9 of Connect and the Spark driver", phase="snapshot")
def test_killed(rig: Rig, entry: Entry) -> None:
    try:
        _kill(rig, entry, SIZE)
    except Void:
        _kill(rig, entry, 4 * SIZE)


def _kill(rig: Rig, entry: Entry, size: int) -> None:
    in_snapshot(rig, entry, Kill("connect"), 0.3, Kill("stream"), hold_s=0, size=size, pause_s=0.3)
