"""A short choice of trials: the first snapshot of a database, and the stream after it."""

import pytest

from tests.faults.faults import Kill
from tests.faults.rig import Rig
from tests.faults.trial import Entry, in_snapshot

pytestmark = [pytest.mark.integration, pytest.mark.slow]  # a snapshot that is over too soon voids it
SIZE = 24_000  # a second of reading: fewer rows are over before they are seen to begin


@pytest.mark.matrix("1, 6", "kill -9 of Connect and the Spark driver", phase="snapshot")
def test_killed(rig: Rig, entry: Entry) -> None:
    in_snapshot(rig, entry, Kill("connect"), 0.3, Kill("stream"), hold_s=0, size=SIZE, pause_s=0.3)
