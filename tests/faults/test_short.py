"""The choice of trials that each change must pass: one of the snapshot, one of the stream, on tables of their own."""

import pytest

from tests.faults.faults import Kill
from tests.faults.rig import Rig
from tests.faults.trial import Entry, in_snapshot

pytestmark = pytest.mark.integration
SIZE = 6_000


@pytest.mark.matrix("1, 6", "kill -9 of Connect in the snapshot, of the Spark driver later", phase="both")
def test_killed(rig: Rig, entry: Entry) -> None:
    in_snapshot(rig, entry, Kill("connect"), 0.3, Kill("stream"), hold_s=0, size=SIZE)
