"""Hours of load, with kills spread over all processes; then the checker."""

import random
import time
from collections.abc import Iterator

import pytest

from tests.faults import evidence
from tests.faults.faults import Fault
from tests.faults.onlooker import Onlooker, heard
from tests.faults.process_faults import SERVICES, Kill, KillSupervisors
from tests.faults.rig import Rig
from tests.faults.source import ACCOUNT, ITEM
from tests.faults.trial import Entry, Void, conclude, hold, well

pytestmark = pytest.mark.soak
LEAST_PER_S = 500  # row versions
KILLS_AN_HOUR = 50
REST_S = 30.0  # on average, between two kills
PAUSE_S = 0.02  # of each of three sessions between two transactions
GROWS_AT = range(30, 10**6, 10_000)  # transactions of the first session: some ten columns an hour
LOOK_S = 60.0  # what earlier states the cleaner takes away has been seen by then


@pytest.mark.matrix("33", "soak: kills spread over all processes", phase="streaming")
def test_soak(rig: Rig, entry: Entry, shop: str, pytestconfig: pytest.Config) -> None:
    """Void below KILLS_AN_HOUR or LEAST_PER_S. Tables are served, and two of them read, all the time."""
    seconds = int(pytestconfig.getoption("--soak"))
    chance, end, begin = random.Random(entry.seed), time.monotonic() + seconds, evidence.committed(rig.home, shop)
    wrong: list[str] = []
    with heard(rig.spark), Onlooker(rig, shop, ACCOUNT, LOOK_S) as one, Onlooker(rig, shop, ITEM, LOOK_S) as other:
        with rig.load(shop, entry.load_seed, pause_s=PAUSE_S, grows_at=GROWS_AT):
            for fault in faults(chance):
                time.sleep(max(0.0, min(chance.expovariate(1 / REST_S), end - time.monotonic())))
                if time.monotonic() >= end:
                    break
                wrong += hold(rig, entry, fault, hold_s=0)
        versions = evidence.committed(rig.home, shop) - begin
        wrong += well(rig, "again")
    entry.fault += f", {seconds} s, {versions / seconds:.0f} changes/s"
    if versions < LEAST_PER_S * seconds or len(entry.injected) < KILLS_AN_HOUR * seconds // 3600:
        raise Void(f"{versions} row versions and {len(entry.injected)} kills in {seconds} s")
    found = conclude(rig, entry, shop, wrong, compacted=True)
    for looker in (one, other):
        entry.checked += looker.judge(found, least=seconds // 240)


def faults(chance: random.Random) -> Iterator[Fault]:
    """Rounds of all processes, each round in an order of its own; half of the kills meet table services at work."""
    while True:
        kills: list[Fault] = [
            Kill(service, services=chance.random() < 0.5, after_s=chance.uniform(0, 3)) for service in SERVICES
        ]
        kills += [KillSupervisors([chance.choice(SERVICES)]), KillSupervisors()]
        yield from chance.sample(kills, k=len(kills))
