"""The commands `lake load ...`: sample rows for PostgreSQL."""

import typer
from rich.progress import Progress

from lake.cli import options
from lake.config.home import load_home
from lake.samples import moma, tickit

load = typer.Typer(name="load", no_args_is_help=True, help="Load sample data into PostgreSQL.")


@load.command("moma")
def load_moma() -> None:
    """Copy the MoMA collection into the database moma; rows that are there already are left alone.

    Example: lake load moma
    """
    with Progress(console=options.err) as progress:
        bars = {table: progress.add_task(table, total=None) for table in moma.FILES}
        counts = moma.load(
            load_home(), lambda table, done, total: progress.update(bars[table], completed=done, total=total)
        )
    for table, (added, present) in counts.items():
        print(f"moma.public.{table}: {added} rows added, {present} there")


@load.command("tickit")
def load_tickit() -> None:
    """Make up seven tables of ticket sales in the database tickit; tables that hold rows already are left alone.

    Example: lake load tickit
    """
    with Progress(console=options.err) as progress:
        bars = {table: progress.add_task(table, total=count) for table, count in tickit.COUNTS.items()}
        counts = tickit.load(load_home(), lambda table, done: progress.update(bars[table], completed=done))
    for table, (added, present) in counts.items():
        print(f"tickit.{table}: {added} rows added, {present} there")
