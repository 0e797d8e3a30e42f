"""The commands `lake plan` and `lake apply`: parse, call, print."""

import json
import sys
from collections.abc import Callable
from dataclasses import asdict

import typer

from lake.config.definition import Database, load_databases
from lake.config.environment import Environment, load_environment
from lake.config.home import PROJECT, Home
from lake.local.stack import Stack
from lake.plan.apply import apply as perform
from lake.plan.apply import validate
from lake.plan.diff import Change, changes
from lake.plan.facts import Facts, read_facts
from lake.plan.preconditions import refuse

CHANGES_FOUND = 3
ENV = typer.Option("local", "--env", "-e", help="The file environments/<name>.yaml of a lake on this machine.")
JSON = typer.Option(False, "--json", help="Print a JSON list of changes.")
CHECK = typer.Option(False, "--check", help=f"Exit with {CHANGES_FOUND} when there are changes.")


def add_to(app: typer.Typer) -> None:
    """Register plan and apply."""
    app.command("plan")(plan)
    app.command("apply")(apply)


def plan(env: str = ENV, as_json: bool = JSON, check: bool = CHECK) -> None:
    """Show what `lake apply` would change, and change nothing.

    Compares databases/*.yaml with PostgreSQL, Kafka, Connect and the pipeline file. On AWS cdk diff does it.

    Example: add a table to databases/moma.yaml, then run: lake plan
    """
    _, _, _, found = _planned(env)
    _print(found, as_json)
    if check and found:
        raise typer.Exit(CHANGES_FOUND)


def apply(env: str = ENV, as_json: bool = JSON) -> None:
    """Make what runs equal to the definition; a second time it finds nothing to do.

    Everything is checked first: after an error with exit code 2 nothing was changed. After one with exit code 1 part of
    it may be done, and the next lake apply goes on from there. On AWS cdk deploy does it.

    Example: lake apply && lake status
    """
    found = apply_all(env, say=lambda line: print(line, file=sys.stderr, flush=True))
    if as_json:
        _print(found, as_json)
    else:
        print(f"{len(found)} changes applied" if found else "no changes")


def apply_all(environment: str, say: Callable[[str], None]) -> list[Change]:
    """The changes that were made; BadInput before the first one when something can't be applied."""
    databases, place, facts, found = _planned(environment)
    validate(found, databases, place)
    perform(found, databases, place, facts, say=say)
    for service in ("stream", "guardian"):  # there was nothing to do for them before the first apply
        Stack(Home(place)).start_if_idle(service)
    return found


def _planned(name: str) -> tuple[list[Database], Environment, Facts, list[Change]]:
    place = load_environment(PROJECT, name)
    databases = load_databases(PROJECT)
    facts = read_facts(databases, place)
    refuse(databases, place, facts)
    return databases, place, facts, changes(databases, place, facts)


def _print(found: list[Change], as_json: bool) -> None:
    if as_json:
        print(json.dumps([asdict(change) for change in found], indent=2))
        return
    for change in found:
        print(f"{change.kind:<10} {change.action}: {change.object}\n{'':<10} {change.detail}")
    print(f"{len(found)} changes" if found else "no changes")
