"""Recovery: kill -9 of one process after the other, under a steady load; how long until the lake is fresh again.

Fresh means the bar of `freshness5`: in 95 of 100 samples, over all tables and STEADY_S, the newest change of a table is
not older than the threshold. Its age follows from the newest commit's metadata, which `lake status` shows and which
agrees with what queries see (docs/measured.md). The time counts from the kill to the beginning of those STEADY_S.

At the full load a slower machine would never be fresh, and would show nothing about recovery. So load and freshness
threshold scale with the speed of the machine. The bar is in seconds of the clock on any machine.
"""

import bisect
import math
import os
import signal
import time
from typing import Any

from benchmarks import freshness
from benchmarks.bench_lake import DATABASE, console
from benchmarks.machine import Machine, loop_s
from benchmarks.steady import PER_SECOND, steady_lake
from lake.clients.stream_status import reported
from lake.config.environment import Environment
from lake.local.stack import SERVICES, Stack

TABLES = 5
FRESH_S = freshness.BARS[TABLES][1]
SHARE = 0.95
STEADY_S, LOOK_S = 10.0, 0.25
REPORTED_S = 2.0  # after a commit; the job reports every second
BAR_S = 60.0
GIVEN_UP_S = 300.0
REST_S = 20.0  # before the next kill
SUPERVISOR = "supervisor of {}"
Commit = tuple[float, float]  # when it was visible; when its newest change was committed in PostgreSQL (epoch s)
Commits = dict[str, list[Commit]]  # by table, in order


def measure() -> dict[str, Any]:
    """Recovery time in seconds by process, and how many times slower than usual the machine was."""
    machine = Machine([loop_s()])
    load = PER_SECOND / machine.slower
    with steady_lake(TABLES, load) as (lake, writers):
        figures = _figures(lake.home, [f"{DATABASE}_mor.{name}" for name in writers], machine)
    return {**figures, "slower": round(machine.slower, 2), "changes_per_s": round(load, 1)}


def _figures(home: Environment, tables: list[str], machine: Machine) -> dict[str, Any]:
    warm = _until_fresh(home, tables, machine)
    warm_s = machine.limit(freshness.WARM_S)
    console.print(f"fresh after {warm:.0f} s; {warm_s:.0f} s to warm up")
    time.sleep(warm_s)
    seconds = {}
    for victim in (name.format(service.name) for name in ("{}", SUPERVISOR) for service in SERVICES):
        time.sleep(REST_S)
        machine.look()
        os.kill(_pids(home)[victim], signal.SIGKILL)
        seconds[victim] = round(_until_fresh(home, tables, machine), 1)
        console.print(f"kill -9 {victim}: fresh again after {seconds[victim]} s")
    met = all(taken <= BAR_S for taken in seconds.values())
    return {"recovered_s": seconds, "fresh_s": FRESH_S, "bar_s": BAR_S, "met": met}


def _pids(home: Environment) -> dict[str, int]:
    """The process ids of the services and of their supervisors."""
    pids = {}
    for name, supervisor in Stack(home).supervisors.items():
        pids.update({name: supervisor.state().pid, SUPERVISOR.format(name): supervisor.pid() or 0})
    if not all(pids.values()):
        raise RuntimeError(f"not all run: {pids}")
    return pids


def _until_fresh(home: Environment, tables: list[str], machine: Machine) -> float:
    """Seconds until the start of STEADY_S of freshness; TimeoutError after GIVEN_UP_S of a usual machine."""
    began, given_up_s = time.time(), machine.limit(GIVEN_UP_S)
    fresh_s = machine.limit(FRESH_S)
    commits: Commits = {name: [] for name in tables}
    while (now := time.time()) < began + given_up_s:
        _note(commits, reported(home))
        begin = now - REPORTED_S - STEADY_S
        if begin >= began and _share(commits, begin, fresh_s) >= SHARE:
            return begin - began
        time.sleep(LOOK_S)
    raise TimeoutError(f"not fresh within {given_up_s:.0f} s: {reported(home)}")


def _note(commits: Commits, facts: dict[str, dict[str, Any]]) -> None:
    """Adds the newest commit of each table if it is new."""
    for name, known in commits.items():
        reported = facts.get(name, {})
        newest = (reported.get("committed_at") or 0.0, (reported.get("source_ts_ms") or 0) / 1000)
        if not known or newest > known[-1]:
            known.append(newest)


def _share(commits: Commits, begin: float, fresh_s: float) -> float:
    """The share of samples during STEADY_S that found a fresh table."""
    moments = [begin + LOOK_S * n for n in range(round(STEADY_S / LOOK_S))]
    fresh = [_age(known, moment) <= fresh_s for known in commits.values() for moment in moments]
    return sum(fresh) / len(fresh)


def _age(known: list[Commit], moment: float) -> float:
    """The age in seconds, since its commit in PostgreSQL, of the newest change that was in the lake at that moment."""
    seen = bisect.bisect(known, (moment, math.inf))
    return moment - known[seen - 1][1] if seen else math.inf
