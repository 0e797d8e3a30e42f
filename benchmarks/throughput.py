"""Throughput of the whole path on one machine: PostgreSQL writes at full speed until all changes are in the lake.

The time counts from the first commit in PostgreSQL to the Hudi commit that holds the last change. Writer, PostgreSQL,
Debezium, Kafka and Spark share the cores. Parity is proven afterwards; without parity there is no figure.
"""

import time
from typing import Any

from benchmarks.bench_lake import DATABASE, BenchLake, bench_lake, console
from benchmarks.writer import BATCH, ddl, write_flat_out
from lake.clients.stream_status import wait_for_lake

WARM_UP = 200_000
CHANGES = 1_000_000
BAR_PER_S = 10_000


def measure() -> dict[str, Any]:
    """Changes per second, with the seconds to write them and the seconds until all were in the lake."""
    with bench_lake() as lake:
        prepare(lake)
        figures = run(lake, "orders", CHANGES)
        verdict = lake.json("verify", f"{DATABASE}.orders")
        if not verdict["equal"]:
            console.print(verdict)
        return {**figures, "parity": verdict["equal"], "bar_per_s": BAR_PER_S}


def prepare(lake: BenchLake) -> None:
    """Captures the table `orders`, and warms up on another one."""
    lake.capture({name: ddl(name) for name in ("warm", "orders")}, {"key": ["id"], "types": ["mor"], "buckets": 2})
    run(lake, "warm", WARM_UP)


def run(lake: BenchLake, table: str, changes: int) -> dict[str, Any]:
    """Writes so many changes, and waits until all are in the lake."""
    began = time.monotonic()
    with lake.connect() as connection:
        connection.execute(f"INSERT INTO public.{table} (id) VALUES (0)")
        written_s = write_flat_out(connection, table, changes)
    console.print(f"{table}: {changes} changes in transactions of {BATCH} written in {written_s:.1f} s")
    wait_for_lake(lake.home, lake.databases, lambda _: None, timeout_s=600)
    seconds = time.monotonic() - began
    return {
        "changes": changes,
        "written_s": round(written_s, 1),
        "seconds": round(seconds, 1),
        "per_s": round(changes / seconds),
    }
