"""The table of a run: which fault, in which phase, with which seed, and what came of it."""

import fcntl
import os
import re
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lake.config.environment import PROJECT
from tests.faults.trial import Entry

HEAD = ("row", "fault", "phase", "seed", "injected", "checked rows", "recovered", "time", "verdict")
ORIGIN = ("date", "commit", "test")
Line = tuple[str, ...]  # a line of the page: the cells of HEAD and ORIGIN
SHOWN_SLOWER = 1.05  # less is 1.0 as it is written
# What no trial runs: what is only read, measures (all but machine.py, by which trials set limits), or tests something
# else; and this module, which writes the page.
TESTS = ("unit", "synth", "charts", "kube_api", "emulated_account", "faults/report.py")
OTHER = ("docs", "*.md", "benchmarks/[!m]*", *(f"tests/{name}" for name in TESTS))
CODE = ("--", ".", *(f":!{path}" for path in OTHER))  # in git's words
PAGE = """\
# Reliability: injected faults and their results

Each row of the table is one trial of `make faults REPORT=docs/reliability.md`, or one run of `make soak`. In most
trials several sessions write to PostgreSQL during the fault. Afterwards a checker, which shares no code with the
pipeline, compares the lake with an audit of everything that PostgreSQL ever committed. A trial without checked rows
tests what is reported or refused, and what stays unchanged.

- **row** numbers the kinds of fault.
- **checked rows** counts the row versions that were compared.
- **recovered** is the time from the end of the fault (for a kill, from the kill) until every table has a row that is
  at most 30 s old. The limit for one killed process is 60 s. On a slow machine (`machine_loop_s` of docs/measured.md
  above 0.1 s) the limit, the 30 s and the pauses of the writing sessions scale by the same factor, which the row
  shows. `python -m benchmarks recovery` measures against a fixed limit of 60 s.
- **verdict** is `known fault` for a fault of the product that is not fixed yet.
- **date** and **commit** name the run. A new run of a trial replaces its row; this table is the only record of runs.

{passed} of {count} trials passed.

{table}

Faults in the midst of one commit of the short road (killed after each file, a request to S3 that fails, is answered
late or is carried out late, two jobs at once) are tests of `make spark`: tests/spark/test_killed_commits.py, listed in
[ADR 37](adr/0037-commits-without-a-spark-job.md).

Kinds of fault without a trial here:

{without}

Seen once and not explained: at 488d76e, seconds after a kill, two queries of a merge-on-read table missed 103 rows
that the queries before and after them returned. One commit had written these rows last, and none was missing in the
end. Some sixty kills with parallel queries, and two hours of soak, the second with 100 kills, have not shown it
again. If it happens again, the failed trial prints the commit, the files, the timeline, and the log blocks that Hudi
read.
"""
WITHOUT = {
    "14": "archive files out of order, late or back-dated: tests/integration/test_streamer.py",
    "19": "a pooler in front of the server: not refused, and not tested",
    "20, 34": "logins and rights of Kafka (expired, revoked, another principal): the broker here has no logins; the "
    "settings for MSK are in the templates, which tests/synth checks",
    "34": "connections to PostgreSQL and S3 in plain text: both listen on loopback here, and the packaged PostgreSQL "
    "has no TLS; on AWS the templates refuse such connections",
    "26": "Hive and Athena as readers of types: here only Spark reads",
}


def plain(entries: Iterable[Entry]) -> str:
    rows = [HEAD, *map(_cells, entries)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(HEAD))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def write(page: Path, entries: list[Entry], now: float) -> None:
    """Adds the run to the page, in place of earlier lines of the same tests; now in seconds since 1970.

    Several runs side by side may write one page.
    """
    for entry in entries:
        entry.date, entry.commit = time.strftime("%Y-%m-%d", time.gmtime(now)), commit()
    with _alone_in(page.parent):
        known = {line[-1]: line for line in _known(page)}
        page.write_text(_page({**known, **{entry.test: _line(entry) for entry in entries}}.values()))


def forget(page: Path, files: set[str], tests: set[str]) -> None:
    """Removes the lines whose test is no longer in these files; files and tests are named as pytest names them."""
    with _alone_in(page.parent):
        known = _known(page)
        left = [line for line in known if line[-1].split("::")[0] not in files or line[-1] in tests]
        if left != known:
            page.write_text(_page(left))


def _known(page: Path) -> list[Line]:
    """The lines of earlier runs: the page itself is their only memory."""
    text = page.read_text() if page.exists() else ""
    rows = [row[2:-2].split(" | ") for row in text.splitlines() if row.startswith("| ")]
    return [tuple(cell.replace("\\|", "|") for cell in row) for row in rows[2:]]


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def markdown(entries: Iterable[Entry]) -> str:
    """The page docs/reliability.md with these lines alone."""
    return _page(map(_line, entries))


def _page(lines: Iterable[Line]) -> str:
    shown = sorted(lines, key=lambda line: (int(re.findall(r"\d+", line[0])[0]), line[0], line[-1]))
    head = ((*HEAD, *ORIGIN), ("---",) * len(HEAD + ORIGIN))
    table = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in (*head, *shown))
    passed = sum(line[HEAD.index("verdict")] == "passed" for line in shown)
    without = "\n".join(f"- {row}: {reason}" for row, reason in WITHOUT.items())
    return PAGE.format(passed=passed, count=len(shown), table=table, without=without)


def commit() -> str:
    """The commit that last changed what ran, and whether it had changed since."""
    state = [["log", "-1", "--format=%h", "--abbrev=12", *CODE], ["status", "--porcelain", *CODE]]
    known, changed = (
        subprocess.run(["git", *words], cwd=PROJECT, capture_output=True, text=True).stdout.strip() for words in state
    )
    return f"{known or 'unknown'}{'-dirty' if changed else ''}"


def _line(entry: Entry) -> Line:
    return (*_cells(entry), entry.date, entry.commit, entry.test)


def _cells(entry: Entry) -> tuple[str, ...]:
    injected = "; ".join(entry.injected)
    shown = injected if len(injected) < 70 else f"{injected.count(';') + 1} faults"
    numbers = (str(entry.checked) if entry.checked else "", _recovered(entry), f"{entry.seconds:.0f} s")
    return entry.row, entry.fault, entry.phase, str(entry.seed), shown, *numbers, entry.verdict


def _recovered(entry: Entry) -> str:
    if entry.recovered_s is None:
        return ""
    slower = f" (machine {entry.slower:.1f} times slower)" if entry.slower and entry.slower > SHOWN_SLOWER else ""
    return f"{entry.recovered_s:.0f} s{slower}"
