"""Many tables: how fresh they are, and what they cost at work, at rest, and when they are new.

Each busy run has a control beside it, in which every batch takes the general road (`appender: false`).
"""

import statistics
import time
from collections.abc import Mapping
from typing import Any

from benchmarks import freshness
from benchmarks.bench_lake import DATABASE, BenchLake, bench_lake, console
from benchmarks.commits import spent_s
from benchmarks.freshness import wait_for_tables
from benchmarks.steady import GENERAL, SETTINGS, names_of, steady_lake
from benchmarks.writer import ddl
from lake.clients.stream_status import reported

WARM_S = freshness.WARM_S  # the compilers are busy until then
COUNTED_S = 60.0  # the job reports the last minute
# By number of tables: changes/s of each; p95 (s) of the median and of the worst table, and cores of all services.
BUSY = {50: (5.0, {"median_p95_s": 3.4, "worst_p95_s": 8.2, "cores": 0.6}), 100: (2.0, {"worst_p95_s": 6.0})}
REST_BAR_CORES = 0.048
NEW_BAR_S = 28.0
TABLES = 100


def busy(tables: int) -> dict[str, Any]:
    """Freshness, cores and memory of so many tables that change; and those of the control."""
    per_second, bars = BUSY[tables]
    ours, control = (_busy(tables, per_second, silver) for silver in ({}, GENERAL))
    return {**ours, "control": control, "bars": bars, "met": all(ours[name] <= bar for name, bar in bars.items())}


def rest() -> dict[str, Any]:
    """How many cores 100 tables at rest take more than one."""
    one, many = _rest(1), _rest(TABLES)
    more = round(many - one, 3)
    return {"cores_of_one": one, "cores": many, "more": more, "bar": REST_BAR_CORES, "met": more <= REST_BAR_CORES}


def new() -> dict[str, Any]:
    """Seconds from `lake apply` of 100 tables with rows until each has its first commit."""
    with bench_lake() as lake:
        began = time.monotonic()
        names = _captured(lake, TABLES)
        wait_for_tables(lake, names)
        seconds = round(time.monotonic() - began, 1)
    return {"seconds": seconds, "bar_s": NEW_BAR_S, "met": seconds <= NEW_BAR_S}


def _busy(tables: int, per_second: float, silver: Mapping[str, Any]) -> dict[str, float]:
    with steady_lake(tables, per_second, silver) as (lake, writers):
        wait_for_tables(lake, list(writers))
        console.print(f"{tables} tables; {WARM_S:.0f} s to warm up, {COUNTED_S:.0f} s to measure")
        time.sleep(WARM_S)
        cores = _cores(lake)
        facts = reported(lake.home)
        resident = lake.resident_gb()
    late = [facts[f"{DATABASE}_mor.{name}"]["lag_ms"]["p95"] for name in writers]
    found = [COUNTED_S if one is None else one / 1000 for one in late]  # nothing of it arrived in the last minute
    return {
        "median_p95_s": round(statistics.median(found), 2),
        "worst_p95_s": round(max(found), 2),
        "cores": cores,
        "resident_gb": round(resident, 2),
    }


def _rest(tables: int) -> float:
    with bench_lake() as lake:
        wait_for_tables(lake, _captured(lake, tables))
        time.sleep(WARM_S)
        return _cores(lake)


def _captured(lake: BenchLake, tables: int) -> list[str]:
    """Captures tables of ten rows each."""
    names = names_of(tables)
    rows = "INSERT INTO public.{} (id) SELECT generate_series(1, 10)"
    lake.capture({name: f"{ddl(name)}; {rows.format(name)}" for name in names}, SETTINGS)
    return names


def _cores(lake: BenchLake) -> float:
    """What all services use, in cores."""
    began = sum(spent_s(lake.home).values())
    time.sleep(COUNTED_S)
    return round((sum(spent_s(lake.home).values()) - began) / COUNTED_S, 3)
