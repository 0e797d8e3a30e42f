"""`lake recover`: repairs what the guardian reports, re-snapshots what lost changes, and proves equality."""

import typer

from lake.cli import options
from lake.cli.parity_output import show_resync
from lake.config.definition import load_databases
from lake.config.environment import load_environment
from lake.config.lock import locked
from lake.config.names import refuse_unknown
from lake.local.status import refuse_stopped
from lake.resync.recover import recovered
from lake.state.resync import BUSY, LOCK


def recover(
    database: str = typer.Argument(help="As named in databases/."),
    as_json: bool = options.JSON,
    timeout: float = options.RESYNC_TIMEOUT,
) -> None:
    """Recover the capture of a database from what `lake status` names: a lost slot, another server, lost changes.

    What differs from the definition is put right as by lake apply. Where the stream can't go on from its slot, there is
    a new slot, and all tables of the database are read again; otherwise those that lost changes are, beside the stream.
    Rows that the source no longer has are deleted as the table's policy says. Interrupted, it goes on when it is run
    again. Exit code 0 only if all is equal in the end, 1 if not, 2 if the input is wrong.

    Example: lake recover moma
    """
    home = load_environment()
    known = {one.database: one for one in load_databases(home.root)}
    refuse_unknown("database", [database], known)
    refuse_stopped(home)
    with locked(home.data / LOCK, BUSY), options.progress("looking at the source") as report:
        result = recovered(home, known[database], timeout, report)
    options.print_json(result) if as_json else show_resync(result)
    raise typer.Exit(0 if result["equal"] else 1)
