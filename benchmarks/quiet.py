"""A quiet table: from the commit in PostgreSQL to the commit in the lake, with one change a second.

It has the bars of a busy table, so a wait for more changes, or for a pause in them, shows here.
"""

import time
from typing import Any

from benchmarks import freshness
from benchmarks.bench_lake import DATABASE
from benchmarks.steady import steady_lake
from lake.clients.stream_status import reported

PER_SECOND = 1.0
COUNTED_S = 60.0  # the job reports the last minute


def measure() -> dict[str, Any]:
    """Seconds, p50 and p95 over the changes of a minute."""
    with steady_lake(1, PER_SECOND) as (lake, writers):
        time.sleep(freshness.WARM_S + COUNTED_S)
        (name,) = writers
        lag_ms = reported(lake.home)[f"{DATABASE}_mor.{name}"]["lag_ms"]
    bar = dict(zip(("p50", "p95"), freshness.BARS[1], strict=True))
    lag = {share: round(lag_ms[share] / 1000, 2) for share in bar}
    return {"lag_s": lag, "bar_s": bar, "met": all(lag[share] <= bar[share] for share in bar)}
