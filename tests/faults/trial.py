"""A trial: load, a fault in the middle of it, the end of the fault, rest, and the checker."""

import time
import zlib
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from typing import Any

from confluent_kafka import KafkaException

from benchmarks.machine import Machine
from lake.sources.drift import BEHIND_S
from tests.faults import checker, evidence, source
from tests.faults.evidence import Evidence
from tests.faults.faults import Fault, ended_at
from tests.faults.process_faults import unwell
from tests.faults.rig import Rig
from tests.faults.source import ACCOUNT, COW, ITEM
from tests.faults.workload import Lasting, Workload, until
from tests.integration import readers
from tests.integration.lab import in_background

LOOK_EVERY_S = 0.3
LEAST = 1000  # row versions committed during a trial, or it proves nothing
LEAST_DURING = 20  # transactions between the fault and the recovery from it, unless the source itself is down
WARM = 30  # transactions before the fault
SEEN_WITHIN_S = 45.0  # also what the product shows while it is asked
WELL_WITHIN_S = 60.0
RECOVERED_WITHIN_S = 60.0  # after the failure of one process, on a machine as fast as usual
FRESH_S = BEHIND_S  # what `lake status` goes by: ten tables, load and checker keep two cores busy without a fault
PROBE_S, PROBE_LOOK_S = 10.0, 0.5
PROBES = 10  # on the way at once: FRESH_S of them, on a machine three times slower
WRITTEN_WITHIN_S = 120.0
SNAPSHOT_WITHIN_S = 120.0
SNAPSHOT_SIZE = 60_000  # seconds of reading: fewer rows can be over before they are seen to begin
SNAPSHOT_TABLES = (replace(ACCOUNT, settings=COW, late=("extra",)), replace(ITEM, late=("extra",)))
SNAPSHOT_ROWS = {
    "account": "SELECT 100000 + i, i, i, repeat(md5(i::text), 10) FROM generate_series(1, {count}) i",
    "item": "SELECT 100000 + i, i, 'place ' || i % 3, i FROM generate_series(1, {count} / 4) i",
}


class Void(AssertionError):
    """Too little happened for the trial to prove anything."""


@dataclass
class Entry:
    """One line of the table: what was done, and what came of it."""

    row: str
    fault: str
    phase: str
    seed: int
    injected: list[str] = field(default_factory=list)
    checked: int = 0
    recovered_s: float | None = None
    seconds: float = 0.0
    healing: float = 0.0  # time.monotonic() when the last fault ended, or killed
    slower: float | None = None  # how many times slower than usual the machine was during the longest recovery
    verdict: str = ""
    why: str = ""  # what failed
    test: str = ""  # its name in pytest
    date: str = ""
    commit: str = ""

    @property
    def load_seed(self) -> int:
        """Of the workload: two trials on one database must not write the same row versions."""
        return zlib.crc32(f"{self.seed} {self.test}".encode())


def under_load(
    rig: Rig,
    entry: Entry,
    database: str,
    *faults: Fault,
    hold_s: float = 3.0,
    least: int = LEAST,
    source_down: bool = False,
    recovers_within_s: float = RECOVERED_WITHIN_S,
    compacted: bool = False,
    **load: Any,
) -> dict[str, Evidence]:
    """Injects the faults one after the other while the workload writes; then the lake must equal the source.

    Void when fewer than `least` row versions were committed, or next to nothing during a fault (source_down:
    then nothing can be). compacted: as in conclude(). load: settings of the workload.
    """
    begin = evidence.committed(rig.home, database)
    wrong = well(rig, "before")
    with rig.load(database, entry.load_seed, **load) as writing:
        _await_transactions(writing, WARM)
        for fault in faults:
            before = writing.committed
            wrong += [*hold(rig, entry, fault, hold_s), *_recovery(rig, entry, database, recovers_within_s)]
            if not source_down and writing.committed - before < LEAST_DURING:
                raise Void(f"{writing.committed - before} transactions during {fault.name}")
        await_versions(rig, database, begin + least)
    return conclude(rig, entry, database, wrong + well(rig, "again"), compacted)


def hold(rig: Rig, entry: Entry, fault: Fault, hold_s: float) -> list[str]:
    """From the fault to its end; what the product did not tell (step h)."""
    entry.injected.append(fault.name)
    fault.inject(rig)
    began = time.monotonic()
    try:
        wrong = _told(rig, fault)
        time.sleep(max(0.0, hold_s - (time.monotonic() - began)))
    finally:
        entry.healing = ended_at(fault) or time.monotonic()
        fault.heal(rig)
    return wrong


def _told(rig: Rig, fault: Fault) -> list[str]:
    try:
        until(lambda: fault.seen(rig), f"nothing told of {fault.name}", SEEN_WITHIN_S, LOOK_EVERY_S)
    except AssertionError as error:
        return [f"h: {error}"]
    return []


def _recovery(rig: Rig, entry: Entry, database: str, within_s: float) -> list[str]:
    """How long after the end of the fault, of a kill after itself, until every table is fresh again, under load.

    The limit is within_s for a machine of usual speed, and as many times longer as it is slower meanwhile.
    """
    machine = Machine()

    def late() -> bool:
        machine.look()
        return time.monotonic() > entry.healing + machine.limit(within_s)

    took = _until_fresh(rig, database, machine, late) - entry.healing
    if took > (entry.recovered_s or 0.0):
        entry.recovered_s, entry.slower = took, machine.slower
    limit, fresh = machine.limit(within_s), machine.limit(FRESH_S)
    told = f"h: {took:.0f} s, {limit:.0f} s at most, until a new row was in the lake within {fresh:.0f} s"
    return [told] if took > limit else []


def _until_fresh(rig: Rig, database: str, machine: Machine, late: Callable[[], bool]) -> float:
    """time.monotonic() when every table had a row no older than FRESH_S on a usual machine, or when it got late.

    A new row is written every PROBE_S: one that waited for the row before it would be late by that one's time.
    """
    probes: list[Future[tuple[float, float]]] = []
    with ThreadPoolExecutor(max_workers=PROBES) as pool:
        while not _fresh(probes, machine) and not late():
            probes.append(pool.submit(_probe, rig, database))
            wait(probes[-1:], PROBE_S)
    return min(_fresh(probes, machine), default=time.monotonic())


def _probe(rig: Rig, database: str) -> tuple[float, float]:
    """Seconds until a new row was in every table, and when that was."""
    return rig.reach(database, every_s=PROBE_LOOK_S), time.monotonic()


def _fresh(probes: list[Future[tuple[float, float]]], machine: Machine) -> list[float]:
    """When the rows that were fast enough had come; raises what a probe that is done raised."""
    done = [probe.result() for probe in probes if probe.done()]
    return [end for lag, end in done if lag <= machine.limit(FRESH_S)]


def well(rig: Rig, when: str) -> list[str]:
    """What `lake status` shows if it does not say soon that all is well (step h).

    Not for a lake under load: on a slow machine a table is behind all the time then, as it must say.
    """
    try:
        until(lambda: not unwell(rig), "it is not", WELL_WITHIN_S, every_s=1)
    except AssertionError:
        return [f"h: lake status is not well {when}:", rig.lake.run("status", check=False).stdout]
    return []


def _await_transactions(load: Workload, count: int) -> None:
    until(lambda: load.committed >= count or bool(load.failures), "the workload does not get going", 60)


def await_versions(rig: Rig, database: str, least: int) -> None:
    """Void when so many row versions are not committed in time."""
    try:
        until(
            lambda: evidence.committed(rig.home, database) >= least,
            f"{least} versions are not written",
            WRITTEN_WITHIN_S,
        )
    except AssertionError as error:
        raise Void(str(error)) from None


def conclude(rig: Rig, entry: Entry, database: str, wrong: list[str], compacted: bool = False) -> dict[str, Evidence]:
    """Rest and the checker; what it checked. AssertionError with everything that is wrong.

    compacted: all is compacted before, so that the read-optimised views must equal the source, too.
    """
    rig.come_to_rest(database)
    if compacted:
        rig.lake.run("compact", database)
    found = rig.gather(database, compacted)
    entry.checked += checker.rows_checked(found)
    lines = [*wrong, *checker.check(found)]
    assert not lines, "\n".join([f"seed {entry.seed}, {', '.join(entry.injected)}:", *lines, *rig.panics()])
    return found


def in_snapshot(
    rig: Rig,
    entry: Entry,
    fault: Fault,
    share: float,
    *later: Fault,
    hold_s: float = 2.0,
    size: int = SNAPSHOT_SIZE,
    **load: Any,
) -> None:
    """Injects the fault when the first snapshot of a new database is that far, while sessions write to it.

    The later ones follow once `lake apply` is through: only then does the streaming job of a new lake run.
    No key is deleted for good: what a snapshot that began anew leaves of such rows is
    test_order.test_deleted_between_two_snapshots. load: settings of the workload.
    """
    database = filled(rig, size)
    try:
        with rig.load(database, entry.load_seed, sequel=Lasting, **load) as writing:
            applied = in_background(lambda: rig.capture(database))
            try:
                entry.fault += f" at {await_share(rig, f'{database}.public.account', share, size):.0%}"
            except Void:
                applied()
                raise
            wrong = hold(rig, entry, fault, hold_s)
            resume(rig, database, applied)
            wrong += [line for one in later for line in hold(rig, entry, one, hold_s)]
            wrong += _recovery(rig, entry, database, SNAPSHOT_WITHIN_S)
            _await_transactions(writing, WARM)
        conclude(rig, entry, database, wrong + well(rig, "again"))
    finally:
        rig.remove(database)


def filled(rig: Rig, size: int) -> str:
    """A new database with rows that are to be read first."""
    database = rig.new_name()
    rig.create(database, SNAPSHOT_TABLES)
    with rig.session(database) as connection:
        for table in SNAPSHOT_TABLES:
            source.fill(connection, table, SNAPSHOT_ROWS[table.name].format(count=size))
    return database


def await_share(rig: Rig, topic: str, share: float, size: int) -> float:
    """Returns when Kafka has that much of the snapshot; how much it has then. Void when it has all."""
    until(lambda: _reached(rig, topic) >= share * size, "the snapshot does not begin", 90, every_s=0.02)
    reached = _reached(rig, topic) / size
    if reached >= 1:
        raise Void("the snapshot is over")
    return reached


def _reached(rig: Rig, topic: str) -> int:
    try:
        return readers.end_of(rig.home, topic)
    except KafkaException:
        return 0


def resume(rig: Rig, database: str, applied: Callable[[], Any]) -> None:
    """A broken `lake apply` may be repeated: the second one goes on where the first ended."""
    try:
        applied()
    except AssertionError:
        rig.capture(database)
