"""Clocks that are wrong, or set while a job runs: no order in the lake may depend on a time of day."""

import platform
import time

import pytest

from tests.faults import evidence
from tests.faults.clocks import WrongClock
from tests.faults.faults import Together
from tests.faults.rig import Rig
from tests.faults.source import ACCOUNT
from tests.faults.trial import Entry, conclude, under_load, well
from tests.faults.workload import until

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="libfaketime comes as a library for x86-64"),
]
TEN_MINUTES = 600
OTHERS = ["registry", "s3", "metastore", "guardian"]
RECOVERED_WITHIN_S = 120.0  # Connect waits for longer when its clock was ahead
BACK_S = 90  # the job waits until its clock is past its last commit


@pytest.mark.matrix("27", "a clock ten minutes off: ")
@pytest.mark.parametrize("seconds", [-TEN_MINUTES, TEN_MINUTES])
@pytest.mark.parametrize("services", [["connect"], ["kafka"], ["postgres"], OTHERS], ids=", ".join)
def test_wrong(rig: Rig, entry: Entry, shop: str, services: list[str], seconds: int) -> None:
    """Back and forth: the load goes on when the clock is right again. Each time the process is started anew."""
    fault = Together([WrongClock(service, seconds) for service in services])
    under_load(
        rig, entry, shop, fault, hold_s=15, source_down="postgres" in services, recovers_within_s=RECOVERED_WITHIN_S
    )


@pytest.mark.matrix("27", f"the clock of the streaming job is set back by {BACK_S} s, and later forward, under load")
def test_set_back(rig: Rig, entry: Entry, shop: str) -> None:
    """Instants of commits rise all the same."""
    clock = WrongClock("stream", 0)
    clock.inject(rig)
    try:
        with rig.load(shop, entry.load_seed):
            rig.reach(shop)
            clock.set(-BACK_S)
            entry.injected.append(f"clock of stream {-BACK_S:+d} s")
            time.sleep(10)
            rig.reach(shop)
            clock.set(0)
            rig.reach(shop)
    finally:
        clock.heal(rig)
    conclude(rig, entry, shop, well(rig, "again"))


@pytest.mark.matrix("27", f"the streaming job starts with a clock {BACK_S} s behind")
def test_behind(rig: Rig, entry: Entry, shop: str) -> None:
    """It must not write before its clock is past the last commit, and says so."""
    clock = WrongClock("stream", -BACK_S)
    with rig.load(shop, entry.load_seed):
        rig.reach(shop)
        clock.inject(rig)
        entry.injected.append(clock.name)
        try:
            until(lambda: "set the clock" in rig.table_status(f"{shop}_mor.account")["reason"], "nothing tells of it")
        finally:
            clock.heal(rig)
        rig.reach(shop)
    instants = [name.split(".")[0] for name in evidence.commits(rig.home, shop, ACCOUNT, "mor")]
    assert instants == sorted(set(instants))
    conclude(rig, entry, shop, well(rig, "again"))
