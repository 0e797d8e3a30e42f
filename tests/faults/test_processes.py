"""Processes that are killed, paused, stopped or cut off while changes are streamed."""

import fnmatch
import itertools
import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

from tests.faults import evidence
from tests.faults.apart import Cut, FullDisk, isolated, own_disk
from tests.faults.conftest import SHOP
from tests.faults.executors import failing_tasks, on_executors
from tests.faults.faults import Series
from tests.faults.onlooker import Onlooker, heard
from tests.faults.process_faults import (
    SERVICES,
    Kill,
    KillSupervisors,
    Pause,
    Restart,
    Stall,
    Stop,
    all_but_the_source,
    pid_of,
)
from tests.faults.rig import Rig
from tests.faults.service_requests import request_compaction
from tests.faults.source import ACCOUNT, ITEM
from tests.faults.state_faults import EmptyStore
from tests.faults.trial import LEAST, Entry, Void, await_versions, conclude, under_load, well
from tests.faults.workload import SOON, Copies, until

pytestmark = pytest.mark.faults
SERIES = 10  # of three kills
SERVING = (  # behind a cleaning, commits are archived
    ("mor.account", "compaction.requested"),
    ("cow.account", "clean.requested"),
    ("mor.item", "clean.requested"),
    ("cow.account", "clean"),
)
SERVED_WITHIN_S = 120.0
EXECUTOR_KILLS = 5
LEAST_HALVED = 5
LEAST_FAILED = 20
LEAST_READS = 20
RESTARTS, AT_ONCE = 100, 10
CUT = ("postgres", "kafka", "registry", "s3")
own_network = pytest.mark.skipif(not isolated(), reason="needs a network namespace of its own: make faults makes one")


@dataclass
class KillServing(Kill):
    """At the moment when the timeline of a table gets such a file; halved: the services that this ended."""

    table: str = ""
    at: str = ""
    halved: set[str] = field(default_factory=set)

    def inject(self, rig: Rig) -> None:
        before = evidence.timelines(rig.home)
        until(lambda: self._serves(rig, before), f"no {self.at} of {self.table}", SERVED_WITHIN_S, every_s=0.05)
        super().inject(rig)
        self.halved = evidence.unfinished(evidence.timelines(rig.home)) - evidence.unfinished(before)

    def _serves(self, rig: Rig, before: set[str]) -> bool:
        """Asks again and again: a table that is served may have nothing to clean yet."""
        request_compaction(rig, self.table)
        return bool(fnmatch.filter(evidence.timelines(rig.home) - before, f"*.{self.at}"))


@contextmanager
def open_transaction(rig: Rig) -> Iterator[None]:
    """Changes that are never committed, in the middle of the fault."""
    connection = psycopg.connect(rig.home.dsn(SHOP))
    connection.execute("INSERT INTO account (id, version) SELECT -1000 - i, i FROM generate_series(1, 500) i")
    try:
        yield
    finally:
        connection.close()


@pytest.mark.matrix("1", "kill -9 of Connect, three times")
def test_connect_killed(rig: Rig, entry: Entry, shop: str) -> None:
    under_load(rig, entry, shop, *[Kill("connect")] * 3, grows_at=SOON)


@pytest.mark.matrix("1", "kill -9 of Connect during COPY")
def test_connect_killed_during_copy(rig: Rig, entry: Entry, shop: str) -> None:
    """1000 rows deleted and copied anew every 2 s by each of three sessions: 3000 changes a second."""
    under_load(rig, entry, shop, *[Kill("connect")] * 3, sequel=Copies, pause_s=2, least=10_000)


@pytest.mark.matrix("2", "kill -9 of the broker")
def test_broker_killed(rig: Rig, entry: Entry, shop: str) -> None:
    under_load(rig, entry, shop, Kill("kafka"))


@pytest.mark.matrix("33", "kill -9 of all supervisors in one moment")
def test_supervisors_killed(rig: Rig, entry: Entry, shop: str) -> None:
    """All processes are started anew, the source's server, too."""
    under_load(rig, entry, shop, KillSupervisors(), source_down=True)


@pytest.mark.matrix("33", "kill -9 of one supervisor after the other")
def test_each_supervisor_killed(rig: Rig, entry: Entry, shop: str) -> None:
    under_load(rig, entry, shop, *[KillSupervisors([service]) for service in SERVICES], source_down=True)


@pytest.mark.matrix("3", "kill -9 of the registry")
def test_registry_killed(rig: Rig, entry: Entry, shop: str) -> None:
    under_load(rig, entry, shop, Kill("registry"), grows_at=SOON)


@pytest.mark.matrix("3", "registry away for five minutes")
def test_registry_away(rig: Rig, entry: Entry, shop: str) -> None:
    under_load(rig, entry, shop, Stop("registry"), hold_s=300, grows_at=SOON)


@pytest.mark.matrix("3", "the registry lost its store, until the store is restored")
def test_registry_empty(rig: Rig, entry: Entry, shop: str) -> None:
    """Healed by hand: the registry's own stop, restore and start count into the time."""
    under_load(rig, entry, shop, EmptyStore(), hold_s=10, recovers_within_s=120)


@pytest.mark.matrix("4", "PostgreSQL in a long transaction")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGQUIT], ids=["kill -9", "immediate mode"])
def test_source_killed(rig: Rig, entry: Entry, shop: str, how: signal.Signals) -> None:
    with open_transaction(rig):
        under_load(rig, entry, shop, Kill("postgres", how), source_down=True)


@pytest.mark.matrix("5", "object store and archive writer killed while they write")
def test_archive_killed(rig: Rig, entry: Entry, shop: str) -> None:
    under_load(rig, entry, shop, Kill("s3"), Kill("stream"), Kill("s3"))


@pytest.mark.matrix("6", "kill -9 of the Spark driver, a third of them in table services")
def test_driver_killed(rig: Rig, entry: Entry) -> None:
    """Two of three are killed before they have recovered from the one before.

    A database of few tables, for them to be written and served often. Void unless enough kills ended a table service,
    and services of each kind were done all the same.
    """
    before = evidence.served(rig.home)
    with rig.temporary((ACCOUNT, ITEM)) as database:
        rig.come_to_rest(database)
        serving = serving_kills(database, chance := random.Random(entry.seed))
        series = [Series([kill, *(Kill("stream", after_s=chance.uniform(0, 8)) for _ in range(2))]) for kill in serving]
        under_load(rig, entry, database, *series, hold_s=0, compacted=True)
    halved = len(set().union(*(kill.halved for kill in serving)))
    entry.fault += f": {halved} were ended"
    done = {what: len(names - before[what]) for what, names in evidence.served(rig.home).items()}
    if halved < LEAST_HALVED or not all(done.values()):
        raise Void(f"{len(serving)} kills ended {halved} table services; done meanwhile: {done}")


def serving_kills(database: str, chance: random.Random) -> list[KillServing]:
    """One for each series."""
    moments = itertools.islice(itertools.cycle(SERVING), SERIES)
    return [
        KillServing("stream", after_s=chance.uniform(0, 0.3), table=f"{database}_{name}", at=at) for name, at in moments
    ]


@pytest.mark.matrix("6", "queries one after the other while the Spark driver is killed")
def test_queries_beside_kills(rig: Rig, entry: Entry, shop: str) -> None:
    """Two sessions that do nothing but read leave the lake half of this machine to recover with."""
    kills = [Kill("stream", services=True) for _ in range(3)]
    with heard(rig.spark), Onlooker(rig, shop, ACCOUNT) as one, Onlooker(rig, shop, ITEM) as other:
        found = under_load(rig, entry, shop, *kills, hold_s=10, recovers_within_s=120)
    for looker in (one, other):
        entry.checked += looker.judge(found, LEAST_READS)


@pytest.mark.matrix("7", "kill -9 of an executor, while tables are written on two")
def test_executor_killed(rig: Rig, entry: Entry, shop: str) -> None:
    begin = evidence.committed(rig.home, shop)
    with on_executors(rig) as executors, rig.load(shop, entry.load_seed):
        rig.reach(shop)
        for _ in range(EXECUTOR_KILLS):
            entry.injected.append("SIGKILL executor")
            executors.kill()
            entry.recovered_s = max(rig.reach(shop), entry.recovered_s or 0)
        await_versions(rig, shop, begin + LEAST)
    conclude(rig, entry, shop, well(rig, "again"))


@pytest.mark.matrix("7", "one task in five fails once, its work done, on executors")
def test_tasks_failed(rig: Rig, entry: Entry, shop: str, tmp_path: Path) -> None:
    begin = evidence.committed(rig.home, shop)
    with on_executors(rig, *failing_tasks(tmp_path, entry.seed)) as executors, rig.load(shop, entry.load_seed):
        rig.reach(shop)
        await_versions(rig, shop, begin + LEAST)
        rig.reach(shop)
        failed = executors.failed_on_purpose()
    entry.injected.append(f"{failed} tasks failed")
    if failed < LEAST_FAILED:
        raise Void(f"{failed} tasks failed")
    conclude(rig, entry, shop, well(rig, "again"))


@pytest.mark.matrix("8", "SIGSTOP for two minutes")
@pytest.mark.parametrize("service", ["connect", "stream", "kafka", "registry", "guardian"])
def test_paused(rig: Rig, entry: Entry, shop: str, service: str) -> None:
    """It goes on as the process that it was, and as one that is well."""
    pid = pid_of(rig, service)
    under_load(rig, entry, shop, Pause(service), hold_s=120)
    assert pid_of(rig, service) == pid
    assert "Removing executor" not in (rig.home.logs / "stream.log").read_text()


@pytest.mark.matrix("8", "SIGSTOP of the object store, until lagging tables are reported")
def test_stalled(rig: Rig, entry: Entry, shop: str) -> None:
    under_load(rig, entry, shop, Stall("s3"), recovers_within_s=120)


@own_network
@pytest.mark.matrix("9", "packets dropped for 40 s")
@pytest.mark.parametrize("service", CUT)
def test_cut_off(rig: Rig, entry: Entry, shop: str, service: str) -> None:
    under_load(rig, entry, shop, Cut((service,)), hold_s=40, source_down=service == "postgres", recovers_within_s=120)


@own_network
@pytest.mark.matrix("9", "packets dropped for 15 minutes")
def test_cut_off_for_long(rig: Rig, entry: Entry, shop: str) -> None:
    """Longer than TCP tries to send again what nobody answers."""
    under_load(rig, entry, shop, Cut(CUT), hold_s=900, source_down=True, recovers_within_s=120)


@pytest.mark.matrix("10", "disk full, for all writers")
def test_disk_full(rig: Rig, entry: Entry, shop: str) -> None:
    if not own_disk(rig):
        pytest.skip("needs a disk of its own: make faults makes one")
    under_load(rig, entry, shop, FullDisk(), hold_s=20, source_down=True, recovers_within_s=120)


@pytest.mark.matrix("33", "services restarted in random order")
def test_restarts(rig: Rig, entry: Entry, shop: str) -> None:
    """Each as soon as the one before is up, which the tables may not be yet."""
    chance = random.Random(entry.seed)
    restarts = [Restart(chance.choice(SERVICES)) for _ in range(RESTARTS)]
    series = [Series(restarts[first : first + AT_ONCE]) for first in range(0, RESTARTS, AT_ONCE)]
    under_load(rig, entry, shop, *series, hold_s=0, recovers_within_s=120)


@pytest.mark.matrix("33", "kill -9 of the guardian")
def test_guardian_killed(rig: Rig, entry: Entry, shop: str) -> None:
    under_load(rig, entry, shop, Kill("guardian"))


@pytest.mark.matrix("33", "all but the source and the supervisors killed in one moment")
def test_all_killed(rig: Rig, entry: Entry, shop: str) -> None:
    under_load(rig, entry, shop, all_but_the_source(), recovers_within_s=120)
