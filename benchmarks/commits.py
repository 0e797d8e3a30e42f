"""The cost of a commit: processor time under a steady load, of the streaming job and of all services together.

Tables are committed as often as the cores allow, so this decides how fresh many tables are. The seconds of a core vary
with the machine and the hour, so `loops` gives the cost in fixed loops of `machine_loop_s`.
"""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil

from benchmarks import freshness, machine
from benchmarks.bench_lake import DATABASE
from benchmarks.steady import SETTINGS, steady_lake
from lake.config.environment import Environment
from lake.local.stack import Stack

TABLES = 8
PER_SECOND = 20.0
COUNTED_S = 240.0
LOOK_S = 5.0  # far shorter than a commit stays in its timeline
JOB = "stream"
# The README does not promise this bar. It is 1.5 times the measured value (docs/measured.md), to detect regressions.
BAR_LOOPS = 6.5
PARTITIONED = {"key": ["id"], "partition": ["product"]}


def measure(tables: int = TABLES, settings: Mapping[str, Any] = SETTINGS) -> dict[str, Any]:
    """Processor time per commit, in seconds and in loops."""
    before = machine.loop_s()
    with steady_lake(tables, PER_SECOND, settings=settings) as (lake, _):
        time.sleep(freshness.WARM_S)
        began, commits = spent_s(lake.home), _counted(lake.home)
        spent = {name: ended - began[name] for name, ended in spent_s(lake.home).items()}
    figures = {"job_s": spent[JOB] / commits, "all_s": sum(spent.values()) / commits}
    loops = figures["job_s"] / ((before + machine.loop_s()) / 2)
    rounded = {name: round(seconds, 2) for name, seconds in figures.items()}
    return {"commits": commits, **rounded, "loops": round(loops, 1), "bar_loops": BAR_LOOPS, "met": loops <= BAR_LOOPS}


def partitioned(kind: str) -> dict[str, Any]:
    """The same for two tables with partitions, of this type. Only the general road writes them."""
    return measure(2, {**PARTITIONED, "types": [kind]})


def spent_s(home: Environment) -> dict[str, float]:
    """Processor seconds of each service and of the processes that it started."""
    states = [supervisor.state() for supervisor in Stack(home).supervisors.values()]
    return {state.name: _of_tree(state.pid) for state in states if state.pid}


def _of_tree(pid: int) -> float:
    root = psutil.Process(pid)
    # The times of a process include those of its children that have ended.
    return sum(sum(process.cpu_times()[:4]) for process in [root, *root.children(recursive=True)])


def _counted(home: Environment) -> int:
    """The number of commits of all tables during COUNTED_S."""
    known, seen, end = _commits(home), set[Path](), time.monotonic() + COUNTED_S
    while time.monotonic() < end:
        time.sleep(LOOK_S)
        seen |= _commits(home)  # the oldest commits leave their timeline in that time
    return len(seen - known)


def _commits(home: Environment) -> set[Path]:
    folder = home.data / "s3" / home.bucket / "silver" / DATABASE
    return {path for ending in ("deltacommit", "commit") for path in folder.glob(f"*_*/.hoodie/*.{ending}")}
