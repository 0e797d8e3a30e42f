"""`lake resnapshot`: re-snapshots tables while changes continue to flow, and validates the data at the end."""

import typer

from lake.cli import options
from lake.cli.parity_output import show_resync
from lake.config.environment import load_environment
from lake.config.names import command_line, named_tables
from lake.local.status import refuse_stopped
from lake.rendering.pipeline import read_pipeline
from lake.resync.finish import read_again
from lake.resync.request import check_sources, refuse_without_key, snapshot_request
from lake.state.resync import turn


def resnapshot(
    names: list[str] = typer.Argument(metavar="DATABASE[.[SCHEMA.]TABLE]...", help="Tables to re-snapshot."),
    as_json: bool = options.JSON,
    timeout: float = options.RESYNC_TIMEOUT,
) -> None:
    """Re-snapshot tables from PostgreSQL while changes continue to flow, and validate the data at the end.

    Use it if rows changed without an event: a column added with a DEFAULT, changes lost in a gap. Orphaned rows, which
    the source no longer has, are deleted as the table's policy says. If it is interrupted, run it again: it continues.
    Exit code 0 only if all is equal at the end, 1 if not, 2 if the input is wrong.

    Example: lake resnapshot moma.artworks
    """
    home = load_environment()
    tables = named_tables(read_pipeline(home), names)
    refuse_without_key(tables)
    refuse_stopped(home)
    check_sources(home, {table["database"] for table in tables})
    command = command_line("resnapshot", *names)
    with options.progress("requesting the rows from the connector") as report, turn(home, timeout, report):
        result = read_again(home, command, tables, snapshot_request(home), timeout, report)
    options.print_json(result) if as_json else show_resync(result)
    raise typer.Exit(0 if result["equal"] else 1)
