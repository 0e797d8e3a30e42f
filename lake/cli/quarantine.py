"""The commands `lake quarantine ...`: messages in quarantine, because no table can store them."""

import base64
from collections.abc import Iterator
from typing import Any

import typer

from lake.cli import options
from lake.cli.listing import Listing
from lake.config.environment import Environment, load_environment
from lake.config.errors import BadInput
from lake.config.names import no_tables, refuse_unknown
from lake.local.spark_job import run_job
from lake.rendering.pipeline import read_pipeline
from lake.resync.quarantine import ask

WIDTH = 16  # bytes in a line
DATABASE = typer.Argument(help="Whose messages.")
IDS = typer.Argument(
    None,
    metavar="[ID]...",
    help="Ids as shown by lake quarantine list; default all that are neither replayed nor discarded.",
)
quarantine = typer.Typer(
    name="quarantine", no_args_is_help=True, help="List, show, replay or discard messages in quarantine."
)


@quarantine.command("list")
def list_messages(
    databases: list[str] = typer.Argument(None, metavar="[DATABASE]...", help="Databases; default all."),
    settled: bool = typer.Option(False, "--all", help="Also list replayed and discarded messages, with user and time."),
    as_json: bool = options.JSON,
) -> None:
    """List the messages that are neither replayed nor discarded: their offset in Kafka, and what is wrong with them.

    Exit code 0, also if there are none. A table quarantines a message if databases/<database>.yaml says
    on_bad_message: quarantine. Otherwise the table stops, and lake status shows the reason.

    Example: lake quarantine list moma --json
    """
    home = load_environment()
    found = _messages(home, _chosen(home, databases or []), ["--all"] if settled else [])
    options.print_json(found) if as_json else options.out.print(messages_table(found))


@quarantine.command()
def show(database: str = DATABASE, message: str = typer.Argument(metavar="ID"), as_json: bool = options.JSON) -> None:
    """Show one message: its key and its bytes, unchanged. They may contain data of the row.

    Example: lake quarantine show moma moma.public.artists/0/0/15089
    """
    home = load_environment()
    found = _messages(home, _chosen(home, [database]), ["--id", message])
    if not found:
        raise BadInput(f"there is no message {message}", f"quarantine of {database}", "see: lake quarantine list --all")
    options.print_json(found[0]) if as_json else _print(found[0])


@quarantine.command()
def replay(
    database: str = DATABASE,
    ids: list[str] = IDS,
    timeout: float = options.STREAM_TIMEOUT,
    as_json: bool = options.JSON,
) -> None:
    """Write messages to their tables, after the cause of the problem was removed.

    The streaming job does it, between two commits. A newer change of the same row is kept, because the offset of a
    message decides its order. Can be repeated. Exit code 1 if a message is refused: it stays, with the reason.

    Example: lake quarantine replay moma moma.public.artists/0/0/15089
    """
    home = load_environment()
    _chosen(home, [database])
    _report("replayed", ask(home, "replay", database, ids or [], timeout), as_json)


@quarantine.command()
def drop(
    database: str = DATABASE,
    ids: list[str] = IDS,
    yes: bool = options.YES,
    timeout: float = options.STREAM_TIMEOUT,
    as_json: bool = options.JSON,
) -> None:
    """Discard messages. They no longer count as missing; the record stays, with user and time. Asks for confirmation.

    Example: lake quarantine drop moma moma.public.artists/0/0/15089 --yes
    """
    home = load_environment()
    _chosen(home, [database])
    what = f"{len(ids)} messages" if ids else "all unsettled messages"
    if not options.confirm(f"Discard {what} in the quarantine of {database}?", yes):
        raise typer.Abort()
    _report("dropped", ask(home, "drop", database, ids or [], timeout), as_json)


def _chosen(home: Environment, names: list[str]) -> list[str]:
    known = sorted(read_pipeline(home).get("quarantine", {}))
    if not known:
        raise no_tables()
    refuse_unknown("database", names, known)
    return names or known


def _messages(home: Environment, databases: list[str], more: list[str]) -> list[dict[str, Any]]:
    with options.progress("reading the quarantine"):
        return list(run_job(home, "quarantined", ["--databases", ",".join(databases), *more])["messages"])


def _report(done: str, answer: dict[str, Any], as_json: bool) -> None:
    """Prints the answer; exit code 1 when something was refused."""
    if as_json:
        options.print_json({done: answer["settled"], "refused": answer["refused"]})
    else:
        options.out.print(f"{done}: {len(answer['settled'])} messages")
        for one in answer["refused"]:
            options.say(f"refused: {one['id']}: {one['reason']}")
    if answer["refused"]:
        raise typer.Exit(1)


def messages_table(found: list[dict[str, Any]]) -> Listing:
    return options.table(["id", "since", "bytes", "state", "reason"], map(_row, found))


def _row(one: dict[str, Any]) -> list[str]:
    settled = f" by {one['settled_by']}, {one['settled_at']}" if one["settled_by"] else ""
    return [one["id"], one["set_aside_at"], str(one["bytes"]), one["state"] + settled, one["reason"]]


def _print(one: dict[str, Any]) -> None:
    for name, value in one.items():
        if name not in ("key", "value"):
            print(f"{name:<14}{'' if value is None else value}")
    for name in ("key", "value"):
        print(f"\n{name}")
        for line in hex_dump(base64.b64decode(one[name] or "")):
            print(line)


def hex_dump(content: bytes) -> Iterator[str]:
    """Lines of 16 bytes: offset, hexadecimal, and the readable characters."""
    for place in range(0, len(content), WIDTH):
        part = content[place : place + WIDTH]
        readable = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        yield f"{place:08x}  {part.hex(' '):<{WIDTH * 3 - 1}}  {readable}"
