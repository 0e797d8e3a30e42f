"""The commands `lake connectors ...`: parse, call, print."""

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lake.aws.environment import LOCAL
from lake.cli import options
from lake.clients.connect import failure, runs
from lake.config.definition import Database, load_databases
from lake.config.errors import BadInput
from lake.config.home import PROJECT, load_home
from lake.deployments.connectors import Connectors, Drift, LocalConnectors, Status, drift
from lake.deployments.open import aws_place

DRIFT = 3
NAME = typer.Argument(None, metavar="[DATABASE]...", help="Whose connectors; default all.")
CHECK = typer.Option(False, "--check", help=f"Exit with {DRIFT} when something differs.")
console = Console(highlight=False)
connectors = typer.Typer(no_args_is_help=True, help="Look at the connectors, and keep them as defined.")


def add_to(app: typer.Typer) -> None:
    """Register the group."""
    app.add_typer(connectors, name="connectors")


def of(env: str, names: list[str] | None) -> Connectors:
    """The connectors of these databases of an environment; BadInput for a database that is not defined."""
    databases = _chosen(names)
    if env == LOCAL:
        return LocalConnectors(load_home(), databases)
    from lake.deployments.aws_connectors import AwsConnectors

    return AwsConnectors(aws_place(env), databases, options.say)


@connectors.command()
def plan(names: list[str] = NAME, env: str = options.ENV, as_json: bool = options.JSON, check: bool = CHECK) -> None:
    """Show how the connectors that run differ from the definition, setting by setting, and change nothing.

    On AWS the definition is that of the last deployment: what a deployment would change says cdk diff.

    Example: lake connectors plan moma --check
    """
    found = drift(of(env, names).settings())
    _print(found, as_json)
    if check and found:
        raise typer.Exit(DRIFT)


@connectors.command()
def apply(names: list[str] = NAME, env: str = options.ENV, as_json: bool = options.JSON) -> None:
    """Give the connectors the settings of the definition; Connect checks them first. Twice is the same as once.

    A table that is new needs more than its connector: lake apply does all of it, on AWS cdk deploy.

    Example: lake connectors apply moma
    """
    _print(drift(of(env, names).apply()), as_json)


@connectors.command()
def status(names: list[str] = NAME, env: str = options.ENV, as_json: bool = options.JSON) -> None:
    """Show the state of each connector and task; exit code 1 unless all of them run.

    Example: lake connectors status --env dev --json
    """
    found = of(env, names).statuses()
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        console.print(_table(found))
    raise typer.Exit(0 if all(runs(one) for one in found.values()) else 1)


@connectors.command()
def restart(names: list[str] = NAME, env: str = options.ENV) -> None:
    """Restart the connectors and all of their tasks; what they have read stays read.

    Example: lake connectors restart moma
    """
    _tell(env, names, "restart")


@connectors.command()
def pause(names: list[str] = NAME, env: str = options.ENV) -> None:
    """Stop reading for a while; the source keeps its log for the connector meanwhile. lake connectors resume ends it.

    Example: lake connectors pause moma
    """
    _tell(env, names, "pause")


@connectors.command()
def resume(names: list[str] = NAME, env: str = options.ENV) -> None:
    """Read on after a pause, from where it was.

    Example: lake connectors resume moma
    """
    _tell(env, names, "resume")


def _tell(env: str, names: list[str] | None, verb: str) -> None:
    for name in of(env, names).tell(verb):
        print(f"{verb}: {name}", file=sys.stderr)


def _chosen(names: list[str] | None) -> list[Database]:
    databases = load_databases(PROJECT)
    known = [one.database for one in databases]
    for name in names or []:
        if name not in known:
            raise BadInput(f"there is no database '{name}'", "databases/", f"choose from: {', '.join(known)}")
    return [one for one in databases if not names or one.database in names]


def _print(found: list[Drift], as_json: bool) -> None:
    if as_json:
        print(json.dumps([asdict(one) for one in found], indent=2))
        return
    for one in found:
        print(f"{one.connector}: {one.key}")
        for sign, value in (("-", one.running), ("+", one.defined)):
            print(f"  {sign} {value}") if value is not None else None
    print(f"{len(found)} settings differ" if found else "no difference")


def _table(found: Mapping[str, Status]) -> Table:
    table = Table("connector", "state", "tasks", "", box=None)
    for name, one in found.items():
        tasks = one.get("tasks", [])
        state = one["connector"]["state"] if one else "absent"
        table.add_row(name, state, ", ".join(task["state"] for task in tasks), Text(failure(one)))
    return table
