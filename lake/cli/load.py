"""The commands `lake load ...`: sample rows for PostgreSQL."""

from contextlib import AbstractContextManager, nullcontext

import typer
from rich.progress import Progress, TaskID

from lake.cli import options
from lake.config.environment import load_environment
from lake.samples.catalog import SAMPLES

load = typer.Typer(name="load", no_args_is_help=True, help="Load sample data into PostgreSQL.")


@load.command("moma")
def load_moma() -> None:
    """Copy the MoMA collection into the database moma. Existing rows are not changed.

    Example: lake load moma
    """
    _load("moma")


@load.command("pagila")
def load_pagila() -> None:
    """Fill the database pagila, a shop that rents films: 15 tables, with triggers, views and foreign keys.

    Rows come from files; rentals and payments are generated. Existing rows are not changed.

    Example: lake load pagila
    """
    _load("pagila")


@load.command("northwind")
def load_northwind() -> None:
    """Copy the database northwind, a wholesaler. Triggers fill its outbox. Existing rows are not changed.

    Order 11075 is left out; data/northwind/insert_order_11075.sql adds it.

    Example: lake load northwind
    """
    _load("northwind")


@load.command("tickit")
def load_tickit() -> None:
    """Generate the data of a ticket seller: seven tables in the database tickit. Tables with rows are not changed.

    Example: lake load tickit
    """
    _load("tickit")


def _silent_no_longer(database: str) -> AbstractContextManager[object]:
    """The bars of a terminal tell by themselves that it goes on."""
    return nullcontext() if options.err.is_terminal else options.lines(f"loading {database}")


def _load(database: str) -> None:
    bars: dict[str, TaskID] = {}
    with _silent_no_longer(database), Progress(console=options.err) as progress:

        def show(table: str, done: int, total: int) -> None:
            if table not in bars:
                bars[table] = progress.add_task(table, total=total)
            progress.update(bars[table], completed=done)

        counts = SAMPLES[database](load_environment(), show)
    for table, (added, present) in counts.items():
        print(f"{database}.{table}: {added} rows added, {present} in all")
