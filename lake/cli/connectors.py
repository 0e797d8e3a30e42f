"""The commands `lake connectors ...`."""

from dataclasses import asdict
from typing import Any

import typer

from lake.cli import options
from lake.clients.connect import failure, runs
from lake.config.definition import load_databases
from lake.config.environment import PROJECT
from lake.config.names import refuse_unknown
from lake.deployments.connectors import Ask, Difference, differences
from lake.deployments.open import open_deployment

NAMES = typer.Argument(None, metavar="[DATABASE]...", help="Databases of the connectors; default all.")
connectors = typer.Typer(
    name="connectors", no_args_is_help=True, help="Compare, apply, restart, pause and resume connectors."
)


@connectors.command()
def plan(
    names: list[str] = NAMES,
    env: str = options.ENV,
    as_json: bool = options.JSON,
    check: bool = options.CHECK,
) -> None:
    """Show each setting in which the running connectors differ from the definition. Changes nothing.

    On AWS the definition is that of the last deployment. To see what a new deployment would change: cdk diff.

    Example: lake connectors plan moma --check
    """
    found = differences(_open(env, names)("settings"))
    _print(found, as_json)
    if check and found:
        raise typer.Exit(options.DIFFERENT)


@connectors.command()
def apply(names: list[str] = NAMES, env: str = options.ENV, as_json: bool = options.JSON) -> None:
    """Give the connectors the settings of the definition. Connect checks them first. Can be repeated.

    A new table needs more than its connector: use lake apply, on AWS cdk deploy.

    Example: lake connectors apply moma
    """
    _print(differences(_open(env, names)("apply")), as_json)


@connectors.command()
def status(names: list[str] = NAMES, env: str = options.ENV, as_json: bool = options.JSON) -> None:
    """Show the state of each connector and task. Exit code 1 unless all of them run.

    Example: lake connectors status --env dev --json
    """
    found = _open(env, names)("status")
    if as_json:
        options.print_json(found)
    else:
        rows = (_row(name, one) for name, one in found.items())
        options.out.print(options.table(["connector", "state", "tasks", ""], rows))
    raise typer.Exit(0 if all(runs(one) for one in found.values()) else 1)


@connectors.command()
def restart(names: list[str] = NAMES, env: str = options.ENV) -> None:
    """Restart the connectors and all of their tasks. Their offsets are kept: nothing is read twice.

    Example: lake connectors restart moma
    """
    _tell(env, names, "restart")


@connectors.command()
def pause(names: list[str] = NAMES, env: str = options.ENV) -> None:
    """Stop reading until lake connectors resume. Meanwhile the source keeps its log for the connector.

    Example: lake connectors pause moma
    """
    _tell(env, names, "pause")


@connectors.command()
def resume(names: list[str] = NAMES, env: str = options.ENV) -> None:
    """Continue to read after a pause, from the same position.

    Example: lake connectors resume moma
    """
    _tell(env, names, "resume")


def _open(env: str, names: list[str] | None) -> Ask:
    databases = load_databases(PROJECT)
    refuse_unknown("database", names or [], [one.database for one in databases], "databases/")
    chosen = [one for one in databases if not names or one.database in names]
    return open_deployment(env).connectors(chosen, options.say)


def _tell(env: str, names: list[str] | None, verb: str) -> None:
    for name in _open(env, names)(verb):
        options.say(f"{verb}: {name}")


def _print(found: list[Difference], as_json: bool) -> None:
    if as_json:
        return options.print_json([asdict(one) for one in found])
    for one in found:
        print(f"{one.connector}: {one.key}")
        for sign, value in (("-", one.running), ("+", one.defined)):
            print(f"  {sign} {value}") if value is not None else None
    return print(f"{len(found)} settings differ" if found else "no difference")


def _row(name: str, one: dict[str, Any]) -> list[str]:
    states = ", ".join(task["state"] for task in one.get("tasks", []))
    return [name, one["connector"]["state"] if one else "absent", states, failure(one)]
