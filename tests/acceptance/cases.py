"""The acceptance cases, and the page that a run writes: case, tests, result, deviation and its reason."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

CASES = {
    1: "the envelope of one artist in the snapshot",
    2: "the flat record of one artist",
    3: "the topics of two captured tables",
    4: "the archive of one topic: names, sizes, offsets",
    5: "the schemas in the registry",
    6: "the tables after the first load, and their counts",
    7: "a merge-on-read table in the catalogue",
    8: "one row of the lake",
    9: "four updates of one artwork, seen in each view",
    10: "one more update, before and after compaction",
    11: "an artist as of the first load",
    12: "the artist after two updates",
    13: "the artist after a new name",
    14: "the artist in another partition: one live row",
    15: "the artist after one more update",
    16: "the artist after the delete, and all earlier moments",
    17: "the archived record of a delete",
    18: "a deleted row in each view",
    19: "the totals after both deletes",
    20: "a join of artists and artworks",
    21: "ticket sales from three engines",
    22: "one sale updated, by HoodieStreamer",
    23: "the sale by time travel and by increments",
    24: "the sale deleted",
    25: "the catalogue after HoodieStreamer",
    26: "topics and artifacts of six tables, with envelopes and flat",
    27: "six changes as envelopes",
    28: "a second snapshot, and twelve changes, in the archive",
    29: "the newest version of each film",
    30: "films by rating, as Parquet",
    31: "rows whose keys change",
    32: "five rows deleted in one statement",
    33: "one change, captured from the log and by query",
    34: "three tables and their join, captured by query",
    35: "JSON without a registry, in objects of 100 rows",
    36: "the newest row of each address, captured by query",
    37: "sales by country, as a stream and as a batch",
    38: "sales by region, in windows and in all",
    39: "an outbox that triggers fill",
    40: "the data set of order items",
}
# Nothing in this version reads these sources.
LATER = {
    21: "capture from MySQL and SQL Server",
    **dict.fromkeys((33, 34, 35, 36), "capture by query (JDBC)"),
}
DEVIATION = "deviation"
PAGE = """\
# Acceptance cases: what the posts show, replayed

Written by `make acceptance`: each case is an input and an exact result of one of the posts that the pipeline follows.
The expected numbers are in the tests. A deviation is asserted by the test, too.

| case | what | tests | result | deviation and its reason |
|---|---|---|---|---|
{rows}
"""


@dataclass(frozen=True)
class Result:
    """One test of a run. test: file and function; deviation: the text of its mark, or ''."""

    test: str
    passed: bool
    deviation: str


def numbers(function: str) -> list[int]:
    """The cases that a test is for, by its name: test_a9_a10_x is for 9 and 10, test_a22_to_a25 for 22, 23, 24, 25."""
    found = re.match(r"test((?:_a\d+(?:_to_a\d+)?)+)(?:_|$)", function)
    spans = re.findall(r"_a(\d+)(?:_to_a(\d+))?", found[1]) if found else []
    return [number for first, last in spans for number in range(int(first), int(last or first) + 1)]


def page(results: Iterable[Result]) -> str:
    """The page. A case without a test says which capture it needs."""
    by_case: dict[int, list[Result]] = defaultdict(list)
    for one in results:
        for number in numbers(one.test.rpartition("::")[2]):
            by_case[number].append(one)
    return PAGE.format(rows="\n".join(_row(number, by_case[number]) for number in CASES))


def _row(number: int, results: list[Result]) -> str:
    tests = sorted({one.test for one in results})
    links = "<br>".join(f"[{name.rpartition('::')[2]}](../{name.partition('::')[0]})" for name in tests)
    deviations = "; ".join(sorted({one.deviation for one in results if one.deviation}))
    return f"| A{number} | {CASES[number]} | {links} | {_result(number, results)} | {deviations} |"


def _result(number: int, results: list[Result]) -> str:
    if not results:
        return f"needs {LATER[number]}" if number in LATER else "no test ran"
    failed = sum(not one.passed for one in results)
    return f"{failed} of {len(results)} failed" if failed else f"passed ({len(results)})"
