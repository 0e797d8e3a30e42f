"""The generated rentals and payments of Pagila: the same ones each time, and every reference has its row."""

import csv
import hashlib
import re
from datetime import timedelta
from decimal import Decimal

import pytest

from lake.config.definition import load_database
from lake.config.environment import PROJECT
from lake.samples import northwind, pagila

FOLDER = PROJECT / "data" / "pagila"
COUNTS = {
    "actor": 200,
    "film": 1000,
    "film_actor": 5462,
    "category": 16,
    "film_category": 1000,
    "language": 6,
    "address": 603,
    "city": 600,
    "country": 109,
    "customer": 599,
    "inventory": 4581,
    "store": 2,
    "staff": 2,
}


def rows(path: str) -> list[dict[str, str]]:
    with (PROJECT / "data" / path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_files_have_the_rows_of_the_original() -> None:
    assert {table: len(rows(f"pagila/{table}.csv")) for table in pagila.TABLES} == COUNTS


def test_the_same_rentals_each_time() -> None:
    found = [hashlib.sha256(repr(list(pagila.rentals(FOLDER))).encode()).hexdigest() for _ in range(2)]
    assert found[0] == found[1]


def test_every_reference_of_a_rental_has_its_row() -> None:
    copies = {int(row["inventory_id"]): int(row["store_id"]) for row in rows("pagila/inventory.csv")}
    customers = {int(row["customer_id"]) for row in rows("pagila/customer.csv")}
    found = list(pagila.rental_rows(FOLDER))
    assert [one[0] for one in found] == list(range(1, 16_045))
    assert all(copies[one[2]] == one[5] and one[3] in customers and one[4] > one[1] for one in found)
    assert len({(one[1], one[2], one[3]) for one in found}) == len(found)


def test_each_rental_is_paid_once_in_a_month_that_has_a_partition() -> None:
    months = set(re.findall(r"payment_p(\d{4}_\d\d)", (FOLDER / "schema.sql").read_text()))
    paid = list(pagila.payment_rows(FOLDER))
    assert [one[3] for one in paid] == list(range(1, 16_045))
    assert {one[5].strftime("%Y_%m") for one in paid} == months
    assert all(Decimal(0) < one[4] < 1000 for one in paid)


@pytest.mark.parametrize("late", [0, 2])
def test_a_day_too_late_costs_one(late: int) -> None:
    copy = pagila.Copy(1, 1, Decimal("2.99"), 3)
    rented = pagila.FIRST_RENTAL
    rental = pagila.Rental(1, rented, copy, 1, rented + (3 + late) * timedelta(days=1))
    assert rental.amount == Decimal("2.99") + late


@pytest.mark.parametrize(
    ("name", "tables"),
    [
        (
            "pagila",
            {f"public.{one}" for one in ("actor", "film", "film_actor", "category", "film_category", "language")},
        ),
        ("northwind", {"datalake.cdc_events"}),
    ],
)
def test_definitions(name: str, tables: set[str]) -> None:
    assert set(load_database(PROJECT / "data" / name / f"{name}.yaml").by_name) == tables


def test_the_order_that_is_left_out_is_the_one_of_the_script() -> None:
    script = (PROJECT / "data" / "northwind" / "insert_order_11075.sql").read_text()
    left_out = [one for one in rows("northwind/order_details.csv") if one["order_id"] == "11075"]
    written = re.findall(r"\(11075, (\d+), (\d+), (\d+), ([\d.]+)\)", script)
    assert [(one["product_id"], one["unit_price"], one["quantity"], one["discount"]) for one in left_out] == written
    assert northwind.LEFT_OUT.keys() == {"orders", "order_details"}
