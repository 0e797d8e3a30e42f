"""`lake verify`: validates that the lake equals its source."""

import typer

from lake.cli import options
from lake.cli.parity_output import show
from lake.deployments.open import open_deployment


def verify(
    names: list[str] = options.TABLES,
    as_json: bool = options.JSON,
    timeout: float = options.VERIFY_TIMEOUT,
    env: str = options.ENV,
) -> None:
    """Compare every column of every row of the lake with PostgreSQL, in both directions, while writes continue.

    Columns: the live rows of PostgreSQL (source), of the copy-on-write table (cow) and of the merge-on-read table as of
    its newest commit (rt) and of its last compaction (ro); then the deleted rows that the lake keeps. "ro behind by n":
    n rows not compacted yet (normal). "unsettled": rows that kept changing until --timeout.

    On AWS an EMR step compares. Its result stays in S3, and the command prints where.
    Exit code 0 only if all is equal, 1 if not, 2 if the input is wrong.

    Example: lake verify moma.artists --json
    """
    with options.progress("checking the connectors") as report:
        result = open_deployment(env).verify(names or [], timeout, report)
    options.print_json(result) if as_json else show(result)
    raise typer.Exit(0 if result["equal"] else 1)
