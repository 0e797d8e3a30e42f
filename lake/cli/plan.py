"""The commands `lake plan` and `lake apply`."""

from dataclasses import asdict

import typer

from lake.cli import options
from lake.plan.run import apply_all, planned
from lake.sources.change import Change


def plan(env: str = options.ENV, as_json: bool = options.JSON, check: bool = options.CHECK) -> None:
    """Show what `lake apply` would change, and change nothing.

    Compares databases/*.yaml with PostgreSQL, Kafka, Connect and the pipeline file. On AWS cdk diff does it.

    Example: add a table to databases/moma.yaml, then run: lake plan
    """
    _, _, _, found = planned(env)
    _print(found, as_json)
    if check and found:
        raise typer.Exit(options.DIFFERENT)


def apply(env: str = options.ENV, as_json: bool = options.JSON) -> None:
    """Make what runs equal to the definition; a second time it finds nothing to do.

    Everything is checked first: after an error with exit code 2 nothing was changed. After one with exit code 1 part of
    it may be done, and the next lake apply continues from there. On AWS cdk deploy does it.

    Example: lake apply && lake status
    """
    found = apply_all(env, report=options.say)
    if as_json:
        _print(found, as_json)
    else:
        print(f"{len(found)} changes applied" if found else "no changes")


def _print(found: list[Change], as_json: bool) -> None:
    if as_json:
        return options.print_json([asdict(change) for change in found])
    for change in found:
        print(f"{change.kind:<10} {change.action}: {change.object}\n{'':<10} {change.detail}")
    return print(f"{len(found)} changes" if found else "no changes")
