"""`lake verify`: the proof that the lake equals its source, run as a Spark job and told in words or as JSON."""

import json
from typing import Any

import typer
from rich.console import Console

from lake.aws.environment import LOCAL
from lake.cli import options
from lake.cli.parity_output import proof, show

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


def _proof_on_aws(env: str, names: list[str], timeout_s: float) -> dict[str, Any]:
    from lake.deployments.open import aws_place  # it imports this file, too

    return aws_place(env).verify(names, timeout_s, options.say)
