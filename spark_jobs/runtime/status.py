"""The report of the running queries: position and lag of each table, for `lake status`."""

import json
import threading
from collections import deque
from typing import Any, Deque, Dict, List, Tuple

WINDOW_S = 60.0
Sample = Tuple[float, int, List[int]]


class Progress:
    """Thread-safe record of the last commits of each table. spark: the version that the job runs on."""

    def __init__(self, spark: str = "") -> None:
        self._spark = spark
        self._lock = threading.Lock()
        self._tables: Dict[str, Dict[str, Any]] = {}
        self._samples: Dict[str, Deque[Sample]] = {}

    def committed(self, name: str, position: Dict[str, Any], committed_ms: List[int], now: float) -> None:
        """Records a batch that became visible at `now` (epoch s). committed_ms: quantiles of its commit times."""
        lags = [int(now * 1000) - moment for moment in committed_ms]
        with self._lock:
            facts = dict(position, state="running", reason=None, committed_at=now)
            if lags:
                self._samples.setdefault(name, deque()).append((now, position["messages"], lags))
                facts["last_lag_ms"] = lags[len(lags) // 2]
            self._tables.setdefault(name, {}).update(facts)

    def update(self, name: str, **facts: Any) -> None:
        """Records facts of one table, for example state and reason."""
        with self._lock:
            self._tables.setdefault(name, {}).update(facts)

    def note(self, name: str, **facts: Any) -> None:
        """Records facts of one table unless it is forgotten."""
        with self._lock:
            if name in self._tables:
                self._tables[name].update(facts)

    def forget(self, name: str) -> None:
        """Drops a table that is no longer written."""
        with self._lock:
            self._tables.pop(name, None)
            self._samples.pop(name, None)

    def to_json(self, now: float) -> str:
        """All tables with the lag (ms, p50/p95/p99 over the changes of the last minute)."""
        with self._lock:
            tables = {name: {**facts, "lag_ms": self._lag(name, now)} for name, facts in self._tables.items()}
        return json.dumps({"at": now, "spark": self._spark, "tables": tables}, sort_keys=True)

    def _lag(self, name: str, now: float) -> Dict[str, Any]:
        samples = self._samples.get(name, deque())
        while samples and samples[0][0] < now - WINDOW_S:
            samples.popleft()
        return weighted_quantiles(samples)


def weighted_quantiles(samples: Deque[Sample]) -> Dict[str, Any]:
    """p50, p95, p99 over batches of different size: each batch's quantiles count as its messages."""
    points = sorted((lag, count / float(len(lags))) for _, count, lags in samples for lag in lags)
    total = sum(weight for _, weight in points)
    return {name: _at(points, total * share) for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))}


def _at(points: List[Tuple[int, float]], wanted: float) -> Any:
    passed = 0.0
    for lag, weight in points:
        passed += weight
        if passed >= wanted:
            return lag
    return points[-1][0] if points else None
