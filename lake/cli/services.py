"""The commands for services: up, down, restart, logs, endpoints."""

import sys
import time

import typer

from lake.cli import options
from lake.config.definition import Database
from lake.config.environment import Environment, load_environment
from lake.deployments.open import open_deployment
from lake.local.endpoints import endpoints as all_endpoints
from lake.local.endpoints import flat
from lake.local.stack import Stack
from lake.resync import slots


def up() -> None:
    """Start all services and wait until each one answers. The streaming job is started without waiting.

    Example: LAKE_PORT_BASE=28000 lake up
    """
    began = time.monotonic()
    with options.lines("starting the services"):
        has_started = Stack(load_environment(), options.say_step).up()
    if has_started:
        options.out.print(f"The lake is up after {time.monotonic() - began:.1f} s. See: lake endpoints")
    else:
        options.out.print("The lake was already up; nothing to do. See: lake status")


DROP_SLOTS = typer.Option(False, "--drop-slots", help="Let the sources keep no log for this lake meanwhile.")


def down(drop_slots: bool = DROP_SLOTS) -> None:
    """Stop all services. The data are kept.

    A server of your own keeps its log for the lake while it is down; how much is said. --drop-slots gives that up: at
    the next lake up all tables of these databases are read again. On a terminal it is asked.

    Example: lake down
    """
    began, home = time.monotonic(), load_environment()
    gone = given_up(home, drop_slots)
    with options.lines("stopping the services") as report:
        slots.drop(home, gone, report)
        has_stopped = Stack(home, options.say_step).down()
    if has_stopped:
        options.out.print(f"The lake is down after {time.monotonic() - began:.1f} s; its data are kept.")
    else:
        options.out.print("The lake was not up; nothing to do.")


def given_up(home: Environment, drop_slots: bool) -> list[Database]:
    """The databases whose slots are dropped, after it was said what they keep; without consent none."""
    captured = slots.captured(home)
    for line in slots.described(home, captured):
        options.say(line)
    own = [one for one in captured if one.source]
    if drop_slots or not own:
        return captured if drop_slots else []
    if sys.stdin.isatty() and typer.confirm(f"Drop the slots of your own servers? ({slots.READ_AGAIN})", err=True):
        return own
    options.say(f"to give that up: lake down --drop-slots ({slots.READ_AGAIN})")
    return []


def restart(service: str = typer.Argument(help="Service name as shown by lake status")) -> None:
    """Stop and start one service while the others keep running.

    Example: lake restart connect
    """
    with options.lines(f"restarting {service}"):
        Stack(load_environment(), options.say_step).restart(service)


def logs(
    service: str = typer.Argument(help="Service name as shown by lake status, or supervisor-NAME for its supervisor"),
    follow: bool = typer.Option(False, "-f", "--follow", help="Keep printing new lines."),
    lines: int = typer.Option(100, "-n", "--lines", min=0, help="Number of lines to begin with."),
    env: str = options.ENV,
) -> None:
    """Print the last lines of a service's log. On AWS: of the pod whose name starts with SERVICE, for example
    kafka-connect.

    Example: lake logs connect -f
    """
    for piece in open_deployment(env).logs(service, lines, follow):
        print(piece, end="", flush=True)


def endpoints(as_json: bool = options.JSON) -> None:
    """Show how to reach each service, passwords included.

    Example: psql $(lake endpoints --json | jq -r .postgres.dsn)
    """
    values = all_endpoints(load_environment())
    if as_json:
        return options.print_json(values)
    return options.out.print(options.table(["", ""], flat(values).items()))
