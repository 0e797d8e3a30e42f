"""The commands `lake plan` and `lake apply`."""

import sys
from collections.abc import Iterable
from dataclasses import asdict

import typer

from lake.cli import options
from lake.config.errors import LakeError
from lake.local.left_tables import left_tables
from lake.plan.run import apply_all, left_out, planned
from lake.sources.change import Change
from lake.sources.findings import Finding


def plan(env: str = options.ENV, as_json: bool = options.JSON, check: bool = options.CHECK) -> None:
    """Show what `lake apply` would change, and all that it would refuse. Changes nothing.

    Compares databases/*.yaml with PostgreSQL, Kafka, Connect and the pipeline file. On AWS use cdk diff.
    Exit code 2 if a table or a database is refused; the plan is for the others.

    Example: add a table to databases/moma.yaml, then run: lake plan
    """
    with options.progress("comparing the definition with what runs"):
        found = planned(env)
    if found.changes or not found.refused:
        _print(found.changes, as_json)
    for one in left_tables(found.place) if not as_json else ():
        print(f"{'left':<10} {one.name}\n{'':<10} {one.status.reason}")
    _leave([], found.refused)
    if check and found.changes:
        raise typer.Exit(options.DIFFERENT)


def apply(env: str = options.ENV, as_json: bool = options.JSON, yes: bool = options.YES) -> None:
    """Change the running lake to match the definition. A second run finds nothing to do.

    Everything is checked first, and all that is refused is named; it stays as it is, and the rest is applied. Exit code
    2 if something was refused. After exit code 1 a database has some of its changes, and the next lake apply continues
    from there. On AWS use cdk deploy.

    What left the definition is captured on, unless you confirm (--yes) that it is taken out: connector, slot,
    publication, rights and tables of the lake in the source. Its rows in the lake stay.

    Example: lake apply && lake status
    """
    leave = _may_leave(left_out(env), yes)
    with options.lines("comparing the definition with what runs") as report:
        done = apply_all(env, report=report, leave=leave)
    if as_json:
        _print(done.changes, as_json)
    elif done.changes or not (done.refused or done.failures):
        print(f"{len(done.changes)} changes applied" if done.changes else "no changes")
    _leave(done.failures.values(), done.refused)


def _may_leave(left: list[Change], yes: bool) -> bool:
    for one in left if not yes else ():
        options.say(f"{one.database}: {one.object} left the definition, and is captured still")
    if left and not yes and sys.stdin.isatty():
        return typer.confirm("Take it out of the capture? The rows in the lake stay.", err=True)
    if left and not yes:
        options.say("to take it out: lake apply --yes; to keep it: restore its file, or its line")
    return yes


def _leave(failures: Iterable[LakeError], refused: list[Finding]) -> None:
    """Names everything that was not done, a line each, and exits with the code of the worst."""
    problems = [*failures, *(one.error() for one in refused)]
    for problem in problems:
        options.say(f"lake: {problem}")
    if problems:
        raise typer.Exit(min(problem.exit_code for problem in problems))


def _print(found: list[Change], as_json: bool) -> None:
    if as_json:
        return options.print_json([asdict(change) for change in found])
    for change in found:
        print(f"{change.kind:<10} {change.action}: {change.object}\n{'':<10} {change.detail}")
    return print(f"{len(found)} changes" if found else "no changes")
