"""Recovery: kill -9 of one process after the other, under a steady load; how long until the lake is fresh again.

Fresh is what `freshness5` is held to: the newest change of a table is at most so old in 95 of 100 looks, over all
tables and STEADY_S. How old it is follows from the newest commit's own metadata, which `lake status` shows, and which
agrees with what queries see (docs/measured.md). The time counts from the kill to the beginning of those STEADY_S.
"""

import os
import signal
import time
from collections import deque
from typing import Any

from benchmarks import freshness
from benchmarks.bench_lake import DATABASE, console
from benchmarks.steady import steady_lake
from lake.local.home import Home
from lake.local.stack import SERVICES
from lake.local.supervisor import Supervisor
from lake.progress import reported

TABLES = 5
FRESH_S = freshness.BARS[TABLES][1]
SHARE = 0.95
STEADY_S, LOOK_S = 10.0, 0.25
BAR_S = 60.0
GIVEN_UP_S = 300.0
REST_S = 20.0  # before the next kill
SUPERVISOR = "supervisord"


def measure() -> dict[str, Any]:
    """Seconds by process."""
    with steady_lake(TABLES) as (lake, writers):
        return _figures(lake.home, [f"{DATABASE}_mor.{name}" for name in writers])


def _figures(home: Home, tables: list[str]) -> dict[str, Any]:
    warm = _until_fresh(home, tables)
    console.print(f"fresh after {warm:.0f} s; {freshness.WARM_S:.0f} s to warm up")
    time.sleep(freshness.WARM_S)
    seconds = {}
    for victim in (*(service.name for service in SERVICES), SUPERVISOR):
        time.sleep(REST_S)
        os.kill(_pid(home, victim), signal.SIGKILL)
        seconds[victim] = round(_until_fresh(home, tables), 1)
        console.print(f"kill -9 {victim}: fresh again after {seconds[victim]} s")
    met = all(taken <= BAR_S for taken in seconds.values())
    return {"recovered_s": seconds, "fresh_s": FRESH_S, "bar_s": BAR_S, "met": met}


def _pid(home: Home, victim: str) -> int:
    supervisor = Supervisor(home)
    pid = supervisor.pid() if victim == SUPERVISOR else supervisor.states()[victim].pid
    if not pid:
        raise RuntimeError(f"{victim} does not run")
    return pid


def _until_fresh(home: Home, tables: list[str]) -> float:
    """Seconds until STEADY_S began in which all was fresh; TimeoutError after GIVEN_UP_S."""
    began, looks = time.monotonic(), deque[list[bool]](maxlen=round(STEADY_S / LOOK_S))
    while time.monotonic() < began + GIVEN_UP_S:
        time.sleep(LOOK_S)
        looks.append([age <= FRESH_S for age in _ages(home, tables)])
        if len(looks) == looks.maxlen and _share(looks) >= SHARE:
            return time.monotonic() - began - STEADY_S
    raise TimeoutError(f"not fresh within {GIVEN_UP_S:.0f} s: {_ages(home, tables)}")


def _share(looks: deque[list[bool]]) -> float:
    """Of looks at tables, how many found a fresh one."""
    found = [is_fresh for look in looks for is_fresh in look]
    return sum(found) / len(found)


def _ages(home: Home, tables: list[str]) -> list[float]:
    """Seconds since the newest change of each table that is in the lake was committed in PostgreSQL."""
    facts = reported(home)
    return [time.time() - (facts.get(name, {}).get("source_ts_ms") or 0) / 1000 for name in tables]
