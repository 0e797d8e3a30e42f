"""Freshness of twenty tables that change once a second: among 200 captured tables, and alone in a lake, in turns.

The 200 tables are those of benchmarks/orm_database.py, captured as a user does it, and proven equal at the end.
"""

import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg

from benchmarks import freshness, orm_database
from benchmarks.bench_lake import DATABASE, BenchLake, bench_lake, console
from benchmarks.orm_database import OrmTable
from benchmarks.writer import TurnWriter
from lake.clients.stream_status import reported

BUSY = 20
TURNS = 2
COUNTED_S = 60.0  # the job reports the last minute
BAR_TIMES = 2.0
Figures = dict[str, float]


def measure() -> dict[str, Any]:
    """p95 in both lakes, and how many times that of the lake of their own it is among the 200."""
    turns = [(_measured(True), _measured(False)) for _ in range(TURNS)]
    alone, among = (_median([turn[n] for turn in turns]) for n in (0, 1))
    times = round(among["median_p95_s"] / alone["median_p95_s"], 2)
    is_equal = all(turn[1]["equal"] for turn in turns)
    met = is_equal and times <= BAR_TIMES
    return {"alone": alone, "among": among, "times": times, "bar_times": BAR_TIMES, "equal": is_equal, "met": met}


def _measured(is_alone: bool) -> Figures:
    """One lake. With the equality of all tables, as 1.0 or 0.0."""
    busy = orm_database.busy(BUSY)
    with _captured(busy if is_alone else []) as lake:
        writer = TurnWriter(lake.home.dsn(DATABASE), [table.change for table in busy])
        writer.start()
        try:
            console.print(f"{'alone' if is_alone else 'among 200'}: {freshness.WARM_S:.0f} s to warm up")
            time.sleep(freshness.WARM_S + COUNTED_S)
            figures = _late(lake, busy)
        finally:
            writer.stop()
        return {**figures, "equal": float(lake.json("verify")["equal"])}


@contextmanager
def _captured(only: Sequence[OrmTable]) -> Iterator[BenchLake]:
    """only: the captured tables; all without any."""
    included = [word for table in only for word in ("--include", f"{table.schema}.{table.name}")]
    with bench_lake() as lake:
        with psycopg.connect(lake.home.dsn(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {DATABASE}")
        with lake.connect() as connection:
            for statement in orm_database.statements():
                connection.execute(statement.encode())
        lake.lake("init", DATABASE, "--yes", "--apply", *included)
        yield lake


def _late(lake: BenchLake, busy: Sequence[OrmTable]) -> Figures:
    (database,) = lake.databases
    topics = {database.by_name[f"{table.schema}.{table.name}"].topic(DATABASE) for table in busy}
    names = [name for name, topic in database.hudi_tables.items() if topic in topics]
    late = [reported(lake.home)[name]["lag_ms"]["p95"] for name in names]
    found = [COUNTED_S if one is None else one / 1000 for one in late]  # nothing of it arrived in the last minute
    return {"median_p95_s": round(statistics.median(found), 2), "worst_p95_s": round(max(found), 2)}


def _median(turns: Sequence[Figures]) -> Figures:
    return {name: round(statistics.median(turn[name] for turn in turns), 2) for name in turns[0] if name != "equal"}
