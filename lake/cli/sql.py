"""`lake sql`: one statement over the lake, now or in the past, as a table or as JSON."""

import json
from typing import Any

import typer
from rich.cells import cell_len
from rich.console import Group
from rich.table import Column, Table
from rich.text import Text

from lake.cli import options
from lake.config.environment import load_environment
from lake.config.errors import BadInput
from lake.local.spark_job import objects, run_job

MOMENT = "A Hudi instant, an ISO time (UTC by default) or a PostgreSQL LSN."


def sql(
    statement: str = typer.Argument(help="Spark SQL, for example: select count(*) from moma_mor.artists_rt"),
    as_of: str = typer.Option(None, "--as-of", help="Read every table as of this moment. " + MOMENT),
    since: str = typer.Option(None, "--since", help="Read only what changed after this moment. " + MOMENT),
    until: str = typer.Option(
        None, "--until", help="With --since: read only changes up to and including this moment. " + MOMENT
    ),
    limit: int = typer.Option(1000, "--limit", min=1, help="Print at most this number of rows."),
    as_json: bool = options.JSON,
) -> None:
    """Query the lake with Spark SQL through the metastore. It only reads: queries, SHOW, DESCRIBE and EXPLAIN.

    Tables: moma_cow.artists, moma_mor.artists_rt (newest), moma_mor.artists_ro (as of the last compaction).

    Example: lake sql "select name from moma_mor.artists_rt where artist_id = 299" --as-of 2026-11-21T12:30:00

    What changed: lake sql "select artist_id, __op from moma_cow.artists" --since 0/1A2B3C4 --until 0/1A2B4D0

    --since returns each changed row once, in its last version of these commits,
    and deleted rows with __op 'd' if the table keeps them. _ro views cannot be
    read with --since.

    An instant belongs to one table: see _hoodie_commit_time. A time is the time
    of the lake's commit, not of PostgreSQL's. An LSN means all that was written
    before it. --as-of and --until need an LSN that the table has passed; for a
    table without changes use a time.
    """
    _refuse_mixture(as_of, since, until)
    moments = {"--as-of": as_of, "--since": since, "--until": until}
    given = [word for name, value in moments.items() if value is not None for word in (name, value)]
    with options.progress("running the query"):
        content = run_job(load_environment(), "query", ["--sql", statement, "--limit", str(limit), *given])
    options.print_json({**content, "rows": objects(content)}) if as_json else _print(content)


def _refuse_mixture(as_of: str | None, since: str | None, until: str | None) -> None:
    if as_of is not None and since is not None:
        raise BadInput("--as-of and --since exclude each other", "lake sql", "give one of them")
    if until is not None and since is None:
        raise BadInput("--until needs --since", "lake sql", "add --since MOMENT")


def _print(content: dict[str, Any]) -> None:
    rows = [[_text(value) for value in row] for row in content["rows"]]
    table = Table(*(Column(Text(name)) for name in content["columns"]))
    for row in rows:
        table.add_row(*row)
    endless = options.out.options.update(max_width=options.PIPED)
    fits = options.out.measure(table, options=endless).maximum <= options.out.width
    options.out.print(table if fits else _records(content["columns"], rows))
    more = ", and there are more (--limit)" if content["more"] else ""
    options.out.print(f"{len(content['rows'])} rows{more}")


def _records(columns: list[str], rows: list[list[Text]]) -> Group:
    """A line for each value, where a line has no room for a row."""
    width = max(map(cell_len, columns), default=0)
    lines = []
    for number, row in enumerate(rows, 1):
        lines.append(Text(f"row {number}", "bold"))
        lines += [Text(f"  {name:<{width}}  ") + value for name, value in zip(columns, row, strict=True)]
    return Group(*lines)


def _text(value: Any) -> Text:
    if value is None:
        return Text("null", style="dim")
    return Text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
