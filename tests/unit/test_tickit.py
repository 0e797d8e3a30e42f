"""The made-up ticket sales: as many as in the sample, the same ones each time, and every reference has its row."""

import hashlib
from decimal import Decimal

from lake.config.definition import load_database
from lake.config.environment import PROJECT
from lake.samples import tickit

SAMPLE = {
    "ems.category": 11,
    "ems.venue": 202,
    "ecomm.date": 365,
    "ems.event": 8798,
    "crm.user": 49990,
    "ecomm.listing": 192497,
    "ecomm.sale": 172456,
}


def digest(table: str) -> str:
    return hashlib.sha256("".join(map(repr, tickit.rows(table))).encode()).hexdigest()[:16]


def test_the_counts_are_those_of_the_sample() -> None:
    assert {table: sum(1 for _ in tickit.rows(table)) for table in SAMPLE} == SAMPLE


def test_the_same_rows_each_time() -> None:
    assert digest("ems.event") == digest("ems.event")
    assert next(tickit.rows("ems.category")) == (1, "Sports", "Baseball", "All baseball events")
    days = list(tickit.rows("ecomm.date"))
    assert [str(day[1]) for day in (days[0], days[59], days[-1])] == ["2008-01-01", "2008-02-29", "2008-12-30"]
    assert days[0][2:] == ("TU", 1, "JAN", 1, 2008, True)


def test_every_reference_has_its_row() -> None:
    users, listings = SAMPLE["crm.user"], SAMPLE["ecomm.listing"]
    for sale in tickit.rows("ecomm.sale"):
        assert 1 <= sale[1] <= listings
        assert all(1 <= person <= users for person in sale[2:4])
        assert sale[8] == (sale[7] * 15 / 100).quantize(Decimal("0.01"))


def test_its_definition_names_all_seven_tables() -> None:
    database = load_database(PROJECT / "data" / "tickit" / "tickit.yaml")
    assert set(database.by_name) == set(SAMPLE)
