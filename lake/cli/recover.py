"""`lake recover`: puts right what the guardian names, reads again what lost changes, and ends in proven equality."""

import json

import typer

from lake.cli import options
from lake.cli.parity_output import show_resync
from lake.config.definition import Database, load_databases
from lake.config.errors import BadInput
from lake.config.home import Home, load_home
from lake.config.lock import locked
from lake.local.status import refuse_stopped
from lake.resync.recover import recovered
from lake.state.resync import BUSY, LOCK


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("recover")(recover)


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
    home = load_home()
    definition = _defined(home, database)
    refuse_stopped(home)
    with locked(home.data / LOCK, BUSY), options.aside.status("looking at the source") as line:
        result = recovered(home, definition, timeout, line.update)
    print(json.dumps(result)) if as_json else show_resync(result, options.console.print)
    raise typer.Exit(0 if result["equal"] else 1)


def _defined(home: Home, name: str) -> Database:
    known = {one.database: one for one in load_databases(home.root)}
    if name not in known:
        now = f"choose from: {', '.join(known)}"
        raise BadInput(f"there is no database '{name}' in the definition", "command line", now)
    return known[name]
