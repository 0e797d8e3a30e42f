"""The commands `lake connectors ...`: what Kafka Connect runs, held against the definition."""

import json
import sys
from dataclasses import asdict, dataclass
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from lake.connect_rest import Connect
from lake.definition import Database, load_databases
from lake.errors import BadInput
from lake.local.home import PROJECT, Home, load_home
from lake.operate import options
from lake.rendering.connector import source_connector

DRIFT = 3
NAME = typer.Argument(None, metavar="[DATABASE]...", help="Whose connectors; default all.")
CHECK = typer.Option(False, "--check", help=f"Exit with {DRIFT} when something differs.")
console = Console(highlight=False)
connectors = typer.Typer(no_args_is_help=True, help="Look at the connectors, and keep them as defined.")


@dataclass(frozen=True)
class Drift:
    """One setting that differs; None where a side lacks it."""

    connector: str
    key: str
    running: str | None
    defined: str | None


def add_to(app: typer.Typer) -> None:
    """Register the group."""
    app.add_typer(connectors, name="connectors")


def drift(connector: str, running: dict[str, str] | None, defined: dict[str, str]) -> list[Drift]:
    """Key by key, by name."""
    now = running or {}
    keys = sorted(now.keys() | defined.keys())
    return [Drift(connector, key, now.get(key), defined.get(key)) for key in keys if now.get(key) != defined.get(key)]


@connectors.command()
def plan(names: list[str] = NAME, as_json: bool = options.JSON, check: bool = CHECK) -> None:
    """Show how the connectors that run differ from the definition, setting by setting, and change nothing.

    Example: lake connectors plan moma --check
    """
    home, databases = _chosen(names)
    found = _drift(home, databases)
    _print(found, as_json)
    if check and found:
        raise typer.Exit(DRIFT)


@connectors.command()
def apply(names: list[str] = NAME, as_json: bool = options.JSON) -> None:
    """Give the connectors the settings of the definition; Connect checks them first. Twice is the same as once.

    A table that is new needs more than its connector: lake apply does all of it.

    Example: lake connectors apply moma
    """
    home, databases = _chosen(names)
    found = _drift(home, databases)
    connect = Connect(home.connect)
    wanted = [source_connector(one, home.environment) for one in databases]
    changing = [settings for settings in wanted if settings["name"] in {one.connector for one in found}]
    for settings in changing:
        connect.validate(settings)
    for settings in changing:
        connect.put(settings)
    _print(found, as_json)


@connectors.command()
def status(names: list[str] = NAME, as_json: bool = options.JSON) -> None:
    """Show the state of each connector and task; exit code 1 unless all of them run.

    Example: lake connectors status --json
    """
    home, databases = _chosen(names)
    connect = Connect(home.connect)
    found = {one.connector: connect.status(one.connector) for one in databases}
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        console.print(_table(found))
    raise typer.Exit(0 if all(_runs(one) for one in found.values()) else 1)


@connectors.command()
def restart(names: list[str] = NAME) -> None:
    """Restart the connectors and all of their tasks; what they have read stays read.

    Example: lake connectors restart moma
    """
    _each(names, "restart")


@connectors.command()
def pause(names: list[str] = NAME) -> None:
    """Stop reading for a while; the source keeps its log for the connector meanwhile. lake connectors resume ends it.

    Example: lake connectors pause moma
    """
    _each(names, "pause")


@connectors.command()
def resume(names: list[str] = NAME) -> None:
    """Read on after a pause, from where it was.

    Example: lake connectors resume moma
    """
    _each(names, "resume")


def _each(names: list[str], verb: str) -> None:
    home, databases = _chosen(names)
    connect = Connect(home.connect)
    for one in databases:
        connect.tell(one.connector, verb)
        print(f"{verb}: {one.connector}", file=sys.stderr)


def _chosen(names: list[str] | None) -> tuple[Home, list[Database]]:
    databases = load_databases(PROJECT)
    known = [one.database for one in databases]
    for name in names or []:
        if name not in known:
            raise BadInput(f"there is no database '{name}'", "databases/", f"choose from: {', '.join(known)}")
    return load_home(), [one for one in databases if not names or one.database in names]


def _drift(home: Home, databases: list[Database]) -> list[Drift]:
    connect = Connect(home.connect)
    return [
        found
        for one in databases
        for found in drift(one.connector, connect.config(one.connector), source_connector(one, home.environment))
    ]


def _print(found: list[Drift], as_json: bool) -> None:
    if as_json:
        print(json.dumps([asdict(one) for one in found], indent=2))
        return
    for one in found:
        print(f"{one.connector}: {one.key}")
        for sign, value in (("-", one.running), ("+", one.defined)):
            print(f"  {sign} {value}") if value is not None else None
    print(f"{len(found)} settings differ" if found else "no difference")


def _runs(status: dict[str, Any]) -> bool:
    """A connector without a task does nothing."""
    parts = [status["connector"], *status["tasks"]] if status else []
    return len(parts) > 1 and all(part["state"] == "RUNNING" for part in parts)


def _table(found: dict[str, dict[str, Any]]) -> Table:
    table = Table("connector", "state", "tasks", "", box=None)
    for name, one in found.items():
        tasks = one.get("tasks", [])
        state = one["connector"]["state"] if one else "absent"
        reason = next((task["trace"].partition("\n")[0] for task in tasks if task.get("trace")), "")
        table.add_row(name, state, ", ".join(task["state"] for task in tasks), reason)
    return table
