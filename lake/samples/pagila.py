"""Pagila, a shop that rents films: thirteen files, and rentals and payments generated from a fixed seed."""

import csv
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import NamedTuple

from lake.config.environment import Environment
from lake.samples.loading import (
    Counts,
    CsvTable,
    Report,
    Row,
    continue_sequences,
    copy_file,
    fill,
    new_database,
    require_files,
    silent,
)

DATABASE = "pagila"
NULL = r"\N"
# Parents first: every foreign key is RESTRICT.
TABLES = (
    "language",
    "category",
    "actor",
    "film",
    "film_actor",
    "film_category",
    "country",
    "city",
    "address",
    "store",
    "staff",
    "customer",
    "inventory",
)
SEED = 2007
RENTALS = 16044  # as in the original, and a payment for each
CUSTOMERS = 599
FIRST_RENTAL = datetime(2007, 1, 24)
RENTAL_DAYS = 120  # payments are made on return, in the months for which public.payment has partitions
LONGEST_DAYS = 10
LATE_FEE = Decimal(1)  # for each day


class Copy(NamedTuple):
    """One copy of a film in a store."""

    inventory: int
    store: int
    rate: Decimal
    days: int


class Rental(NamedTuple):
    """A copy of a film that a customer took; staff: of the store."""

    rental: int
    rented: datetime
    copy: Copy
    customer: int
    returned: datetime

    @property
    def amount(self) -> Decimal:
        """The rate, and a fee for each day too late."""
        late = max(0, (self.returned - self.rented).days - self.copy.days)
        return self.copy.rate + LATE_FEE * late


def load(home: Environment, report: Report = silent, database: str = DATABASE) -> Counts:
    """BadInput if a file is missing or PostgreSQL can't be reached, LakeError later. database: where it goes."""
    folder = home.root / "data" / DATABASE
    tables = [CsvTable(f"public.{name}", folder / f"{name}.csv", null=NULL) for name in TABLES]
    require_files([folder / "schema.sql", *(table.path for table in tables)])
    with new_database(home, database, folder / "schema.sql") as connection:
        counts = {table.name: copy_file(connection, table, report) for table in tables}
        for table, rows in (("public.rental", rental_rows), ("public.payment", payment_rows)):
            counts[table] = fill(connection, table, rows(folder), RENTALS, report)
        continue_sequences(connection)
        return counts


def rental_rows(folder: Path) -> Iterator[Row]:
    """Rows of public.rental. folder: of the files of films and inventory."""
    for one in rentals(folder):
        yield one.rental, one.rented, one.copy.inventory, one.customer, one.returned, one.copy.store, one.returned


def payment_rows(folder: Path) -> Iterator[Row]:
    """Rows of public.payment, one for each rental."""
    for one in rentals(folder):
        yield one.rental, one.customer, one.copy.store, one.rental, one.amount, one.returned


def rentals(folder: Path) -> Iterator[Rental]:
    """The same ones each time."""
    random, copies = Random(SEED), _copies(folder)
    for number in range(1, RENTALS + 1):
        # Each second of the period at most once: a customer takes a film once at a time.
        second = (number - 1) * RENTAL_DAYS * 86400 // RENTALS
        rented = FIRST_RENTAL + timedelta(seconds=second)
        held = timedelta(seconds=random.randrange(3600, LONGEST_DAYS * 86400))
        yield Rental(number, rented, random.choice(copies), random.randrange(CUSTOMERS) + 1, rented + held)


def _copies(folder: Path) -> list[Copy]:
    films = {row["film_id"]: row for row in _read(folder / "film.csv")}
    return [
        Copy(
            int(row["inventory_id"]),
            int(row["store_id"]),
            Decimal(films[row["film_id"]]["rental_rate"]),
            int(films[row["film_id"]]["rental_duration"]),
        )
        for row in _read(folder / "inventory.csv")
    ]


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
