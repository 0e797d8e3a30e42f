"""The commands `lake load ...`: sample rows for PostgreSQL."""

import typer
from rich.progress import Progress

from lake.cli import options
from lake.config.environment import load_environment
from lake.samples import moma, tickit

load = typer.Typer(name="load", no_args_is_help=True, help="Load sample data into PostgreSQL.")


@load.command("moma")
def load_moma() -> None:
    """Copy the MoMA collection into the database moma. Existing rows are not changed.

    Example: lake load moma
    """
    with Progress(console=options.err) as progress:
        counts = moma.load(load_environment(), lambda table, path: progress.open(path, "rb", description=table))
    _print("moma.public", counts)


@load.command("tickit")
def load_tickit() -> None:
    """Generate the data of a ticket seller: seven tables in the database tickit. Tables with rows are not changed.

    Example: lake load tickit
    """
    with Progress(console=options.err) as progress:
        bars = {table: progress.add_task(table, total=count) for table, count in tickit.COUNTS.items()}
        counts = tickit.load(load_environment(), lambda table, done: progress.update(bars[table], completed=done))
    _print("tickit", counts)


def _print(schema: str, counts: dict[str, tuple[int, int]]) -> None:
    for table, (added, present) in counts.items():
        print(f"{schema}.{table}: {added} rows added, {present} in all")
