"""The table of a run: which fault, in which phase, with which seed, and what came of it."""

import subprocess
import time
from collections.abc import Iterable

from lake.local.home import PROJECT
from tests.faults.trial import Entry

HEAD = ("row", "fault", "phase", "seed", "injected", "checked rows", "recovered", "time", "verdict")
PAGE = """\
# Reliability: what was broken on purpose, and what came of it

Each line is a run of `make faults`: rows are written to PostgreSQL by several sessions, the fault comes while they
write, and afterwards a checker that shares no code with the pipeline holds the lake against an audit of everything
that PostgreSQL ever committed. The rows are numbered as in the fault matrix of `tests/faults`. "checked rows" are the
row versions that were compared; "recovered" is the time from the end of the fault to the last table's having all;
"known fault" is a fault of the product that the run shows, and that is not mended yet.

Run on {date} at commit {commit}: {passed} of {count} as they should be.

{table}

Rows of the matrix without a trial here:

{without}
"""
WITHOUT = {
    "7": "executors: on one machine Spark's driver is all there is",
    "12": "a source restored from an older backup: tests/unit/test_guard_rules.py, by its facts",
    "14": "archive files out of order, late or back-dated: tests/integration/test_streamer.py",
    "26": "types: tests/integration/test_types.py",
}


def plain(entries: Iterable[Entry]) -> str:
    rows = [HEAD, *map(_cells, entries)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(HEAD))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def markdown(entries: list[Entry], now: float) -> str:
    """The page docs/reliability.md; now in seconds since 1970."""
    lines = [HEAD, ("---",) * len(HEAD), *map(_cells, entries)]
    table = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
    date = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(now))
    passed = sum(entry.verdict == "passed" for entry in entries)
    without = "\n".join(f"- {row}: {reason}" for row, reason in WITHOUT.items())
    return PAGE.format(date=date, commit=commit(), passed=passed, count=len(entries), table=table, without=without)


def commit() -> str:
    """The commit of the code that ran, and whether it had changed since."""
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=12"], cwd=PROJECT, capture_output=True, text=True
    )
    return done.stdout.strip() or "unknown"


def _cells(entry: Entry) -> tuple[str, ...]:
    recovered = "" if entry.recovered_s is None else f"{entry.recovered_s:.0f} s"
    injected = "; ".join(entry.injected)
    shown = injected if len(injected) < 70 else f"{len(entry.injected)} faults"
    numbers = (str(entry.checked) if entry.checked else "", recovered, f"{entry.seconds:.0f} s")
    return entry.row, entry.fault, entry.phase, str(entry.seed), shown, *numbers, entry.verdict
