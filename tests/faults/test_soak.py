"""Hours of load, with kills spread over all processes; then the checker."""

import random
import time

import pytest

from tests.faults import evidence
from tests.faults.faults import SERVICES, Kill
from tests.faults.rig import Rig
from tests.faults.trial import Entry, Void, conclude, well

pytestmark = pytest.mark.soak
KILLS_AN_HOUR = 80  # asked for: each waits for the one before to be over
PAUSE_S = 0.02  # of each of three sessions between two transactions


@pytest.mark.matrix("33", "soak: kills spread over all processes", phase="streaming")
def test_soak(rig: Rig, entry: Entry, shop: str, pytestconfig: pytest.Config) -> None:
    """Void below 50 kills an hour or 20 row versions a second."""
    seconds = int(pytestconfig.getoption("--soak"))
    chance, end, begin = random.Random(entry.seed), time.monotonic() + seconds, evidence.committed(rig.home, shop)
    with rig.load(shop, entry.load_seed, pause_s=PAUSE_S, grows=True):
        while time.monotonic() < end:
            time.sleep(min(chance.expovariate(KILLS_AN_HOUR / 3600), max(0.0, end - time.monotonic())))
            kill = Kill(chance.choice(SERVICES))
            kill.inject(rig)
            kill.heal(rig)
            entry.injected.append(kill.name)
    versions = evidence.committed(rig.home, shop) - begin
    entry.fault += f", {seconds} s, {versions / seconds:.0f} changes/s"
    if versions < 20 * seconds or len(entry.injected) < 50 * seconds // 3600:
        raise Void(f"{versions} row versions and {len(entry.injected)} kills in {seconds} s")
    conclude(rig, entry, shop, well(rig, "again"), compacted=True)
