"""`lake verify`: the proof that the lake equals its source, run as a Spark job and told in words or as JSON."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lake.aws.environment import LOCAL
from lake.cli import options
from lake.clients.stream_status import wait_for_snapshots
from lake.config.definition import load_databases
from lake.config.environment import LOOPBACK
from lake.config.home import Home, load_home
from lake.local.spark_job import last_told, run_job

USER = "lake_verify"
PASSWORD = "LAKE_VERIFY_PASSWORD"
console = Console(highlight=False)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("verify")(verify)


def verify(
    names: list[str] = typer.Argument(
        None, metavar="[DATABASE[.[SCHEMA.]TABLE]]...", help="What to compare; default all."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print the result as JSON."),
    timeout: float = typer.Option(180, "--timeout", min=1, help="Seconds to catch up, and then for rows to settle."),
    env: str = options.ENV,
) -> None:
    """Compare every column of every row of the lake with PostgreSQL, both ways, while writes go on.

    Columns: the live rows of PostgreSQL (source), of the copy-on-write table (cow) and of the merge-on-read table as of
    its newest commit (rt) and of its last compaction (ro); then the deleted rows that the lake keeps. "ro behind by n":
    n rows wait for compaction, which is in order. "unsettled": rows that changed all the time, to the end of --timeout.

    On AWS a step of EMR compares; its result stays in S3, and its place is told.
    Exit code 0 only if all is equal, 1 if not, 2 if the input is wrong.

    Example: lake verify moma.artists --json
    """
    result = proof(names or [], timeout) if env == LOCAL else _proof_on_aws(env, names or [], timeout)
    print(json.dumps(result)) if as_json else show(result)
    raise typer.Exit(0 if result["equal"] else 1)


def proof(names: list[str], timeout_s: float = 180) -> dict[str, Any]:
    """What compare() gives; its progress is shown on standard error."""
    with Console(stderr=True).status("looking at the connectors") as line:
        return compare(names, timeout_s, line.update)


def compare(names: list[str], timeout_s: float, say: Callable[[str], None]) -> dict[str, Any]:
    """The result of spark_jobs/verify.py; BadInput for a name that is not in the lake."""
    home = load_home()
    _wait_for_snapshots(home, names, timeout_s, say)
    say("starting Spark")
    url = f"jdbc:postgresql://{LOOPBACK}:{home.ports.postgres}"
    login = ["--jdbc-url", url, "--user", USER, "--timeout-s", str(timeout_s)]
    password = {PASSWORD: home.secrets.lake_verify}
    return run_job(home, "verify", [*login, "--tables", ",".join(names)], password, watch=lambda log: _tell(log, say))


def _tell(log: Path, say: Callable[[str], None]) -> None:
    if line := last_told(log, "verify"):
        say(escape(line))


def _proof_on_aws(env: str, names: list[str], timeout_s: float) -> dict[str, Any]:
    from lake.deployments.open import aws_place  # it imports this file, too

    return aws_place(env).verify(names, timeout_s, options.say)


def _wait_for_snapshots(home: Home, names: list[str], timeout_s: float, say: Callable[[str], None]) -> None:
    named = {name.partition(".")[0] for name in names}
    databases = [one for one in load_databases(home.root) if not named or one.database in named]
    wait_for_snapshots(home, databases, say, timeout_s)


def show(result: dict[str, Any]) -> None:
    """Prints the verdict, and every difference with both versions."""
    table = Table("table", "source", "cow", "rt", "ro", "deleted", "")
    for name, one in result["tables"].items():
        rows = [str(one["rows"].get(side, "-")) for side in ("source", "cow", "rt", "ro")]
        deleted = "/".join(str(count) for count in one.get("deleted", {}).values()) or "-"
        table.add_row(name, *rows, deleted, _verdict(one))
    console.print(table)
    for name, one in result["tables"].items():
        for kind in ("differences", "unsettled"):
            for difference in one[kind]:
                console.print(f"{name}: {_line(difference)}", soft_wrap=True, markup=False)
    lsns = ", ".join(sorted({one["lsn"] for one in result["tables"].values() if "lsn" in one}))
    if "result" in result:
        console.print(f"result: {result['result']}", soft_wrap=True)
    console.print(f"{'equal' if result['equal'] else 'NOT EQUAL'} at LSN {lsns or '-'}, {result['seconds']} s")


def _verdict(one: dict[str, Any]) -> str:
    if one["equal"]:
        behind = one.get("ro_behind", 0)
        return f"equal, ro behind by {behind}" if behind else "equal"
    return "[red]unsettled[/]" if not one["differences"] else "[red]different[/]"


def _line(difference: dict[str, Any]) -> str:
    key = " ".join(f"{name}={value}" for name, value in difference.get("key", {}).items())
    place = " ".join(part for part in (difference["where"], key) if part)
    if difference.get("missing_in"):
        return f"{place}: no such row in {difference['missing_in']}"
    if "detail" in difference:
        return f"{place}: {difference['detail']}"
    versions = [
        f"{column}: {' | '.join(f'{side} {value!r}' for side, value in sides.items())}"
        for column, sides in difference["columns"].items()
    ]
    return f"{place}: {'; '.join(versions)}"
