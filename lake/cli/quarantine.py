"""The commands `lake quarantine ...`: the messages that were set aside because no table could take them."""

import base64
import json
import sys
from collections.abc import Iterator
from typing import Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lake.cli import options
from lake.config.errors import BadInput
from lake.config.home import Home, load_home
from lake.local.spark_job import run_job
from lake.rendering.pipeline import read_pipeline
from lake.resync.quarantine import ask

WIDTH = 16  # bytes in a line
DATABASE = typer.Argument(help="Whose messages.")
IDS = typer.Argument(None, metavar="[ID]...", help="Which, as lake quarantine list names them; default all that wait.")
TIMEOUT = typer.Option(120, "--timeout", min=1, help="Seconds to wait for the streaming job.")
console = Console(highlight=False)
quarantine = typer.Typer(no_args_is_help=True, help="Look at messages that were set aside, and settle them.")


def add_to(app: typer.Typer) -> None:
    """Register the group."""
    app.add_typer(quarantine, name="quarantine")


@quarantine.command("list")
def list_messages(
    databases: list[str] = typer.Argument(None, metavar="[DATABASE]...", help="Whose messages; default all."),
    settled: bool = typer.Option(False, "--all", help="Also those that were replayed or dropped, by whom and when."),
    as_json: bool = options.JSON,
) -> None:
    """List the messages that wait to be replayed or dropped: where in Kafka they stand, and what is wrong.

    Exit code 0, also when there is none. Their tables set them aside because databases/<database>.yaml says
    on_bad_message: quarantine; a table that stops instead tells in lake status.

    Example: lake quarantine list moma --json
    """
    home = load_home()
    found = _messages(home, _chosen(home, databases or []), ["--all"] if settled else [])
    print(json.dumps(found, indent=2)) if as_json else console.print(_table(found))


@quarantine.command()
def show(database: str = DATABASE, message: str = typer.Argument(metavar="ID"), as_json: bool = options.JSON) -> None:
    """Show one message with its key and its bytes as they came. They can hold data of the row.

    Example: lake quarantine show moma moma.public.artists/0/0/15089
    """
    home = load_home()
    found = _messages(home, _chosen(home, [database]), ["--id", message])
    if not found:
        raise BadInput(f"there is no message {message}", f"quarantine of {database}", "see: lake quarantine list --all")
    print(json.dumps(found[0], indent=2)) if as_json else _print(found[0])


@quarantine.command()
def replay(
    database: str = DATABASE, ids: list[str] = IDS, timeout: float = TIMEOUT, as_json: bool = options.JSON
) -> None:
    """Send messages through the path of their tables again, once what was wrong with them is mended.

    The streaming job does it, between two commits. A message takes the place that its offset gives it: a newer change
    of the same row stays. Twice is the same as once. Exit code 1 when one is refused: it stays, with the reason.

    Example: lake quarantine replay moma moma.public.artists/0/0/15089
    """
    home = load_home()
    _chosen(home, [database])
    _report("replayed", ask(home, "replay", database, ids or [], timeout), as_json)


@quarantine.command()
def drop(
    database: str = DATABASE,
    ids: list[str] = IDS,
    yes: bool = options.YES,
    timeout: float = TIMEOUT,
    as_json: bool = options.JSON,
) -> None:
    """Give messages up: they count as missing no more. It asks first, and keeps them with who dropped them and when.

    Example: lake quarantine drop moma moma.public.artists/0/0/15089 --yes
    """
    home = load_home()
    _chosen(home, [database])
    if not yes:
        what = f"{len(ids)} messages" if ids else "all messages that wait"
        typer.confirm(f"Give up {what} in the quarantine of {database}?", abort=True, err=True)
    _report("dropped", ask(home, "drop", database, ids or [], timeout), as_json)


def _chosen(home: Home, names: list[str]) -> list[str]:
    known = sorted(read_pipeline(home.environment).get("quarantine", {}))
    if not known:
        raise BadInput("the lake has no tables yet", "the pipeline file", "run: lake apply")
    for name in names:
        if name not in known:
            raise BadInput(f"there is no database '{name}' in the lake", "command line", f"choose: {', '.join(known)}")
    return names or known


def _messages(home: Home, databases: list[str], more: list[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run_job(home, "quarantined", ["--databases", ",".join(databases), *more])["messages"]
    return found


def _report(done: str, answer: dict[str, Any], as_json: bool) -> None:
    """Prints the answer; exit code 1 when something was refused."""
    if as_json:
        print(json.dumps({done: answer["settled"], "refused": answer["refused"]}, indent=2))
    else:
        console.print(f"{done}: {len(answer['settled'])} messages")
        for one in answer["refused"]:
            print(f"refused: {one['id']}: {one['reason']}", file=sys.stderr)
    if answer["refused"]:
        raise typer.Exit(1)


def _table(found: list[dict[str, Any]]) -> Table:
    table = Table("id", "since", "bytes", "state", "reason", box=None)
    for one in found:
        settled = f" by {one['settled_by']}, {one['settled_at']}" if one["settled_by"] else ""
        cells = (one["id"], one["set_aside_at"], str(one["bytes"]), one["state"] + settled, one["reason"])
        table.add_row(*map(Text, cells))
    return table


def _print(one: dict[str, Any]) -> None:
    for name, value in one.items():
        if name not in ("key", "value"):
            print(f"{name:<14}{'' if value is None else value}")
    for name in ("key", "value"):
        print(f"\n{name}")
        for line in hex_dump(base64.b64decode(one[name] or "")):
            print(line)


def hex_dump(content: bytes) -> Iterator[str]:
    """Lines of 16 bytes: place, hexadecimal, and what can be read of them."""
    for place in range(0, len(content), WIDTH):
        part = content[place : place + WIDTH]
        readable = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        yield f"{place:08x}  {part.hex(' '):<{WIDTH * 3 - 1}}  {readable}"
