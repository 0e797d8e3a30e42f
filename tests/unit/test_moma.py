"""The files of the MoMA collection agree with each other."""

import csv
from collections import Counter

from lake.config.environment import PROJECT
from lake.samples.moma import FILES


def rows(table: str) -> list[dict[str, str]]:
    with (PROJECT / "data" / "moma" / FILES[table]).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="|"))


def test_the_departments_are_those_of_the_artworks() -> None:
    counted = Counter(artwork["department"] for artwork in rows("artworks") if artwork["department"])
    assert {one["department"]: int(one["works"]) for one in rows("departments")} == counted
