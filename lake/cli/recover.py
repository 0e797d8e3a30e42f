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

    It first applies the definition, like lake apply. If the stream cannot continue from its slot, it creates a new slot
    and reads all tables of the database again. Otherwise it reads only the tables that lost changes, while the stream
    continues. Rows that the source no longer has are deleted as the table's policy says. If it is interrupted, run it
    again: it continues. Exit code 0 only if all is equal at the end, 1 if not, 2 if the input is wrong.

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
