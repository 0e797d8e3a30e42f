"""The processor time of `npx cdk synth -c env=dev`, here and in another checkout, in turns.

    python -m benchmarks.synth FOLDER

FOLDER is a set-up checkout of another version, of 461aab1 for the bar. Both have their Python packages compiled or both
have not: see PYTHONDONTWRITEBYTECODE.
"""

import json
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from lake.config.environment import PROJECT

COMMAND = ("npx", "cdk", "synth", "--quiet", "--no-notices", "-c", "env=dev")
RUNS = 3
BAR = 0.8  # of the other checkout's


def measure(other: Path) -> dict[str, Any]:
    """Seconds of user and system time of each run, with those of all processes that it started."""
    here, there = [], []
    for _ in range(RUNS):
        there.append(processor_s(other))
        here.append(processor_s(PROJECT))
    return {"here_s": here, "there_s": there, **compared(here, there)}


def compared(here: Sequence[float], there: Sequence[float]) -> dict[str, Any]:
    """By their medians."""
    ratio = median(here) / median(there)
    return {"ratio": round(ratio, 3), "bar": BAR, "met": ratio <= BAR}


def processor_s(folder: Path) -> float:
    before = _children_s()
    subprocess.run(COMMAND, cwd=folder, check=True, capture_output=True)
    return round(_children_s() - before, 2)


def _children_s() -> float:
    """Of all processes that ended since this one began: each of them is waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(arguments: list[str]) -> int:
    (folder,) = arguments
    figures = measure(Path(folder))
    print(json.dumps(figures))
    return 0 if figures["met"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
