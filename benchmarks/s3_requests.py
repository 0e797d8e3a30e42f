"""Requests to S3 of one commit of one bucket, counted at the S3 server.

A steady stream of single changes makes small commits, with the appender and without it. The server's access log is cut
at each completed commit; the figure is the median piece, so a table service in between does not count.
"""

import re
import statistics
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from benchmarks.bench_lake import DATABASE, console
from benchmarks.freshness import wait_for_tables
from benchmarks.steady import GENERAL, steady_lake

PER_SECOND = 5.0
LOOK_S = 5.0
COMMITS = 15  # that are counted, after as many to warm up
# An operation of S3, and the key or the query of its request.
REQUEST = re.compile(r" s3_(\w+) \S+ (/\S*) (?:2\d\d|404) ")
COMPLETED = re.compile(r"/\.hoodie/\d+\.deltacommit$")
# By what S3 charges: a LIST costs as much as a PUT.
LISTS, PUTS = "ListObjects", ("PutObject", "CopyObject", "CreateMultipartUpload")
BAR, BAR_PUTS_AND_LISTS = 16, 10


def measure() -> dict[str, Any]:
    """Of the appender, and of the control, in which every batch takes the general road."""
    ours, control = (_measure(silver) for silver in ({}, GENERAL))
    met = ours["requests"] <= BAR and ours["puts_and_lists"] <= BAR_PUTS_AND_LISTS
    bars = {"requests": BAR, "puts_and_lists": BAR_PUTS_AND_LISTS}
    return {**ours, "control": control, "bars": bars, "met": met}


def of_commits(lines: list[str], table: str) -> list[Counter[str]]:
    """The operations of each commit of a table, from lines of the access log. table: its folder, database/name."""
    found: list[Counter[str]] = [Counter()]
    for line in lines:
        for operation, path in REQUEST.findall(line):
            if f"silver/{table}" in path.replace("%2F", "/"):
                found[-1][operation] += 1
                if operation == "PutObject" and COMPLETED.search(path):
                    found.append(Counter())
    return found[1:-1]  # the first and the last piece are not whole


def figures(commits: list[Counter[str]]) -> dict[str, Any]:
    """Medians of the commits; the operations are those of the commit in the middle."""
    middle = sorted(commits, key=lambda one: one.total())[len(commits) // 2]
    both = [sum(count for name, count in one.items() if name.startswith((LISTS, *PUTS))) for one in commits]
    return {
        "commits": len(commits),
        "requests": int(middle.total()),
        "puts_and_lists": int(statistics.median(both)),
        "operations": dict(middle),
    }


def _measure(silver: Mapping[str, Any]) -> dict[str, Any]:
    with steady_lake(1, PER_SECOND, silver, request_log=True) as (lake, writers):
        wait_for_tables(lake, list(writers))
        (name,) = writers
        found: list[Counter[str]] = []
        while len(found) < 2 * COMMITS:
            time.sleep(LOOK_S)
            found = of_commits(lake.request_log.read_text().splitlines(), f"{DATABASE}/{name}_mor/")
    console.print(found_here := figures(found[COMMITS:]))  # the control takes its time
    return found_here
