"""The commands `lake plan` and `lake apply`."""

from dataclasses import asdict

import typer

from lake.cli import options
from lake.plan.run import apply_all, planned
from lake.sources.change import Change


def plan(env: str = options.ENV, as_json: bool = options.JSON, check: bool = options.CHECK) -> None:
    """Show what `lake apply` would change. Changes nothing.

    Compares databases/*.yaml with PostgreSQL, Kafka, Connect and the pipeline file. On AWS use cdk diff.

    Example: add a table to databases/moma.yaml, then run: lake plan
    """
    _, _, _, found = planned(env)
    _print(found, as_json)
    if check and found:
        raise typer.Exit(options.DIFFERENT)


def apply(env: str = options.ENV, as_json: bool = options.JSON) -> None:
    """Change the running lake to match the definition. A second run finds nothing to do.

    Everything is checked first: exit code 2 means that nothing was changed. After exit code 1 some changes may be done,
    and the next lake apply continues from there. On AWS use cdk deploy.

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
