"""`lake recover`: repairs a capture, re-snapshots the tables that lost changes, and validates the data."""

import typer

from lake.cli import options
from lake.cli.parity_output import show_resync
from lake.config.definition import load_databases
from lake.config.environment import load_environment
from lake.config.names import refuse_unknown
from lake.local.status import refuse_stopped
from lake.resync.recover import recovered
from lake.state.resync import turn


def recover(
    database: str = typer.Argument(help="As named in databases/."),
    as_json: bool = options.JSON,
    timeout: float = options.RESYNC_TIMEOUT,
    anew: bool = typer.Option(False, "--new-slot", help="Begin again with a new slot, and re-snapshot all tables."),
) -> None:
    """Repair the capture of a database after a lost slot, a replaced server, lost changes, or a change at which the
    connector fails each time; `lake status` names them.

    It first applies the definition, like lake apply. If the stream cannot continue from its slot, or past a change, it
    creates a new slot, says what was passed over, and re-snapshots all tables of the database. Otherwise it reads only
    the tables that lost changes, while the stream goes on. Orphaned rows are deleted as the table's policy says.
    If it is interrupted, run it again: it continues. Exit code 0 only if all is equal at the end, 1 if not, 2 if the
    input is wrong.

    Example: lake recover moma
    """
    home = load_environment()
    known = {one.database: one for one in load_databases(home.root)}
    refuse_unknown("database", [database], known)
    refuse_stopped(home)
    with options.progress("inspecting the source") as report, turn(home, timeout, report):
        result = recovered(home, known[database], timeout, report, anew)
    options.print_json(result) if as_json else show_resync(result)
    raise typer.Exit(0 if result["equal"] else 1)
