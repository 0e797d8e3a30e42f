"""The commands for the local services: up, down, status, logs, restart, endpoints."""

import json
import time
from collections import deque
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from lake import status as state
from lake.errors import LakeError
from lake.local.endpoints import endpoints as all_endpoints
from lake.local.endpoints import flat
from lake.local.home import load_home
from lake.local.stack import Stack

FOLLOW_S = 0.3
console = Console(highlight=False)


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    for command in (up, down, restart, status, logs, endpoints):
        app.command()(command)


def _report(service: str, what: str, seconds: float) -> None:
    console.print(f"[dim]{seconds:5.1f} s[/]  [bold]{service:<10}[/] {what}", soft_wrap=True)


def up() -> None:
    """Start all services and wait until each one answers.

    Example: LAKE_PORT_BASE=28000 lake up
    """
    began = time.monotonic()
    stack = Stack(load_home(), _report)
    if stack.up():
        console.print(f"The lake is up after {time.monotonic() - began:.1f} s. See: lake endpoints")
    else:
        console.print("The lake was already up; nothing to do. See: lake status")


def down() -> None:
    """Stop all services; data stay where they are.

    Example: lake down
    """
    began = time.monotonic()
    if Stack(load_home(), _report).down():
        console.print(f"The lake is down after {time.monotonic() - began:.1f} s; its data are kept.")
    else:
        console.print("The lake was not up; nothing to do.")


def restart(service: str = typer.Argument(help="Name as in: lake status")) -> None:
    """Stop and start one service while the others keep running.

    Example: lake restart connect
    """
    Stack(load_home(), _report).restart(service)


def status(as_json: bool = typer.Option(False, "--json", help="Print facts for machines.")) -> None:
    """Show what runs; exit code 1 unless all services run.

    Example: lake status --json
    """
    lines = state.services(load_home())
    if as_json:
        print(json.dumps({"services": state.as_json(lines)}, indent=2))
    else:
        console.print(_services_table(lines))
    if not state.healthy(lines):
        raise typer.Exit(1)


def _services_table(lines: list[state.ServiceStatus]) -> Table:
    table = Table("service", "state", "pid", "uptime", "memory", "", box=None)
    for line in lines:
        running = line.state == "running"
        colour = "green" if running else "yellow" if line.state in ("starting", "waiting") else "red"
        facts = (
            [str(line.pid), f"{line.uptime_s} s", f"{line.rss_bytes / 2**20:.0f} MiB"]
            if running
            else [""] * 3
        )
        table.add_row(line.name, f"[{colour}]{line.state}[/]", *facts, line.reason)
    total = sum(line.rss_bytes for line in lines)
    table.add_row("", "", "", "", f"{total / 2**20:.0f} MiB" if total else "", "")
    return table


def logs(
    service: str = typer.Argument(help="Name as in: lake status, or supervisord"),
    follow: bool = typer.Option(False, "-f", "--follow", help="Keep printing what comes."),
    lines: int = typer.Option(100, "-n", "--lines", min=0, help="How many lines to begin with."),
) -> None:
    """Print the end of a service's log.

    Example: lake logs connect -f
    """
    stack = Stack(load_home())
    if service != "supervisord":
        stack.service(service)
    path = stack.log(service)
    if not path.exists():
        raise LakeError(f"{service} has no log yet", str(path), "run: lake up")
    _print_log(path, lines, follow)


def _print_log(path: Path, lines: int, follow: bool) -> None:
    with path.open(errors="replace") as file:
        print("".join(deque(file, lines)), end="", flush=True)
        while follow:
            print(file.read(), end="", flush=True)
            time.sleep(FOLLOW_S)


def endpoints(as_json: bool = typer.Option(False, "--json", help="Print facts for machines.")) -> None:
    """Show how to reach each service, passwords included.

    Example: psql $(lake endpoints --json | jq -r .postgres.dsn)
    """
    values = all_endpoints(load_home())
    if as_json:
        print(json.dumps(values, indent=2))
        return
    table = Table(box=None, show_header=False)
    for key, value in flat(values).items():
        table.add_row(key, value)
    console.print(table)
