"""`lake resnapshot`: reads tables again while changes go on flowing, and ends in proven equality."""

import json

import typer
from rich.console import Console

from lake.clients.stream_requests import refuse_stopped
from lake.config.definition import load_databases
from lake.config.home import Home, load_home
from lake.config.lock import locked
from lake.config.names import named_tables
from lake.plan.preconditions import refuse_source
from lake.rendering.pipeline import read_pipeline
from lake.resync.finish import read_again, show
from lake.sources.postgres.catalog import connect_source, read_source
from lake.sources.postgres.signals import ask_for_snapshot
from lake.state.resync import LOCK, Ask

BUSY = "another command reads tables again"
JSON = typer.Option(False, "--json", help="Print the result as JSON.")
TIMEOUT = typer.Option(3600, "--timeout", min=1, help="Seconds for each of: reading, catching up, sweeping.")
console = Console(highlight=False)
aside = Console(stderr=True, highlight=False)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("resnapshot")(resnapshot)


def resnapshot(
    names: list[str] = typer.Argument(metavar="DATABASE[.[SCHEMA.]TABLE]...", help="What to read again."),
    as_json: bool = JSON,
    timeout: float = TIMEOUT,
) -> None:
    """Read tables again from PostgreSQL while changes go on flowing, and end in proven equality.

    For rows that changed without an event: a column added with a DEFAULT, changes lost in a gap. Rows that the source
    no longer has are deleted as the table's policy says. Interrupted, it goes on when it is run again.
    Exit code 0 only if all is equal in the end, 1 if not, 2 if the input is wrong.

    Example: lake resnapshot moma.artworks
    """
    home = load_home()
    tables = named_tables(read_pipeline(home.environment), names)
    refuse_stopped(home)
    _refuse_sources(home, {table["database"] for table in tables})
    command = f"lake resnapshot {' '.join(names)}"
    with locked(home.data / LOCK, BUSY), aside.status("asking the connector") as line:
        result = read_again(home, command, tables, signal(home), timeout, line.update)
    print(json.dumps(result)) if as_json else show(result, console.print)
    raise typer.Exit(0 if result["equal"] else 1)


def _refuse_sources(home: Home, names: set[str]) -> None:
    """What can't be read whole would be taken for deleted."""
    for database in load_databases(home.root):
        if database.database in names:
            refuse_source(database, read_source(home.environment, database))


def signal(home: Home) -> Ask:
    """Reads tables beside the stream, which goes on."""

    def ask(database: str, tables: list[str]) -> int:
        with connect_source(home.environment, database) as connection:
            return ask_for_snapshot(connection, tables)

    return ask
