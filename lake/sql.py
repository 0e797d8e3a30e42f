"""`lake sql`: one statement over the lake, now or in the past, as a table or as JSON."""

import json
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from lake.errors import BadInput
from lake.job import run_job
from lake.local.home import load_home

console = Console(highlight=False)
MOMENT = "A Hudi instant, an ISO time (UTC) or a PostgreSQL LSN."


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("sql")(sql)


def sql(
    statement: str = typer.Argument(help="Spark SQL, for example: select count(*) from moma_mor.artists_rt"),
    as_of: str = typer.Option(None, "--as-of", help="Read every lake table as it was then. " + MOMENT),
    since: str = typer.Option(None, "--since", help="Read only what changed after this moment. " + MOMENT),
    until: str = typer.Option(None, "--until", help="With --since: and not after this one. " + MOMENT),
    limit: int = typer.Option(1000, "--limit", min=1, help="Print at most so many rows."),
    as_json: bool = typer.Option(False, "--json", help="Print columns, types and rows as JSON."),
) -> None:
    """Query the lake with Spark SQL through the metastore.

    Tables: moma_cow.artists, moma_mor.artists_rt (newest), moma_mor.artists_ro (as of the last compaction).

    Example: lake sql "select name from moma_mor.artists_rt where artist_id = 299" --as-of 2026-11-21T12:30:00
    """
    _refuse_mixture(as_of, since, until)
    options = {"--as-of": as_of, "--since": since, "--until": until}
    given = [word for name, value in options.items() if value for word in (name, value)]
    content = run_job(load_home(), "query", ["--sql", statement, "--limit", str(limit), *given])
    print(json.dumps(content)) if as_json else _print(content)


def _refuse_mixture(as_of: str | None, since: str | None, until: str | None) -> None:
    if as_of and since:
        raise BadInput("--as-of and --since exclude each other", "lake sql", "give one of them")
    if until and not since:
        raise BadInput("--until needs --since", "lake sql", "add --since MOMENT")


def _print(content: dict[str, Any]) -> None:
    table = Table(*content["columns"])
    for row in content["rows"]:
        table.add_row(*(_text(row[column]) for column in content["columns"]))
    console.print(table)
    more = ", and there are more (--limit)" if content["more"] else ""
    console.print(f"{len(content['rows'])} rows{more}")


def _text(value: Any) -> str:
    return "[dim]null[/]" if value is None else value if isinstance(value, str) else json.dumps(value)
