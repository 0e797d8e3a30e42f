"""Start, stop and memory of the whole stack with one database and the streaming job at rest."""

import time
from typing import Any

from benchmarks.bench_lake import BenchLake, bench_lake
from benchmarks.writer import ddl
from lake.clients.stream_status import wait_for_lake

REST_S = 30.0
BARS = {"up_s": 20.0, "down_s": 5.0, "resident_gb": 3.5}


def measure() -> dict[str, Any]:
    """The time of a warm `lake up` and `lake down` in seconds, and resident memory in GB."""
    with bench_lake() as lake:
        lake.capture({"orders": ddl("orders")}, {"key": ["id"], "types": ["cow", "mor"]})
        with lake.connect() as connection:
            connection.execute("INSERT INTO public.orders (id) SELECT generate_series(1, 20000)")
        wait_for_lake(lake.home, lake.databases, lambda _: None)
        time.sleep(REST_S)
        resident = lake.resident_gb()
        figures = {
            "down_s": _timed(lake, "down"),
            "up_s": _timed(lake, "up"),
            "resident_gb": round(resident, 2),
        }
        return {**figures, "bars": BARS, "met": all(figures[name] <= bar for name, bar in BARS.items())}


def _timed(lake: BenchLake, command: str) -> float:
    began = time.monotonic()
    lake.lake(command)
    return round(time.monotonic() - began, 1)
