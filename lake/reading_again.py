"""Reading tables again beside the stream: what was asked of the connectors, kept until the lake is in order.

An order (`_order`) below a table's bound belongs to what was in Kafka before the signal. Whatever the connector sends
after it, read or streamed, lies above, in the order of commit per key.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from lake.connect_rest import Connect, states
from lake.definition import EPOCH_SIZE, Database
from lake.errors import LakeError
from lake.guard.drift import Drift
from lake.local.home import Home
from lake.local.secrets import write_private
from lake.progress import end_offsets
from lake.waiting import wait_while

LOCK = "reading_again.lock"
Report = Callable[[str], None]
Ask = Callable[[str, list[str]], int]
PENDING = "incremental_snapshot_collections"


@dataclass(frozen=True)
class ReadingAgain:
    """What a command asked for, by "database.schema.table": the bound; by database: a place in its log behind that.

    No place stands for a database that was not asked yet.
    """

    command: str
    bounds: dict[str, int]
    places: dict[str, int]


def bound(home: Home, table: dict[str, Any]) -> int:
    """The least `_order` of whatever comes to the table's topic from now on. table: of the pipeline file.

    With several partitions that of the one that is furthest behind: no row of the others is taken for old.
    """
    ends = end_offsets(home, [table["topic"]])[table["topic"]]
    return int(table["epoch"]) * EPOCH_SIZE + min(ends.values())


def begin(home: Home, command: str, tables: list[dict[str, Any]], ask: Ask) -> ReadingAgain:
    """Asks for all rows of the tables, or goes on where the same command was interrupted.

    ask: makes the connector of a database read the tables (schema.table) and gives a place in the log behind that.
    """
    asked = _kept(home)
    if asked is None or asked.command != command:
        asked = ReadingAgain(command, {table["topic"]: bound(home, table) for table in tables}, {})
        _keep(home, asked)
    for database in sorted({table["database"] for table in tables} - set(asked.places)):
        names = [f"{table['schema']}.{table['table']}" for table in tables if table["database"] == database]
        asked = replace(asked, places={**asked.places, database: ask(database, names)})
        _keep(home, asked)
    return asked


def pending(home: Home, database: Database) -> list[Drift]:
    """That a command was interrupted which had begun to read tables of the database again."""
    asked = _kept(home)
    if asked is None or not of_database(home, database):
        return []
    return [Drift(database.database, "", "reading tables again was interrupted", asked.command)]


def of_database(home: Home, database: Database) -> set[str]:
    """The topics of its tables that an interrupted command had begun to read."""
    asked = _kept(home)
    return {name for name in (asked.bounds if asked else ()) if name.startswith(f"{database.database}.")}


def end(home: Home) -> None:
    """Forgets it: the next time begins anew."""
    _path(home).unlink(missing_ok=True)


def await_read(home: Home, databases: list[Database], asked: ReadingAgain, timeout_s: float, report: Report) -> None:
    """Returns once Kafka has all that the connectors read for it; LakeError when one fails or the time is over."""
    connect, now = Connect(home.connect), "run it again to go on waiting; it is not begun anew"
    wanted = [database for database in databases if database.database in asked.places]
    wait_while(
        lambda: [line for one in wanted for line in unread(connect, one, asked.places[one.database])],
        timeout_s,
        lambda left: LakeError(f"still to be read: {', '.join(left)}", f"after {timeout_s:.0f} s", now),
        lambda left: report(f"reading {', '.join(left)}"),
    )


def unread(connect: Connect, database: Database, behind: int) -> list[str]:
    """The tables that the connector still has to read, by its own offset, which Kafka acknowledged."""
    _refuse_failed(connect, database)
    if connect.snapshotting(database.connector):
        return [f"the first snapshot of {database.connector}"]
    offset = connect.offset(database.connector) or {}
    if offset.get("lsn", 0) < behind:
        return [f"what {database.connector} was asked for"]
    return [f"{database.database}.{one[f'{PENDING}_id']}" for one in json.loads(offset.get(PENDING) or "[]")]


def _refuse_failed(connect: Connect, database: Database) -> None:
    found = states(connect.status(database.connector)) or ["absent"]
    if found[0] in ("PAUSED", "STOPPED", "absent") or "FAILED" in found:
        now = "see: lake status; once it runs, run this again"
        raise LakeError(f"the connector is {', '.join(found)}", f"connector {database.connector}", now)


def _path(home: Home) -> Path:
    return home.data / "reading_again.json"


def _keep(home: Home, asked: ReadingAgain) -> None:
    write_private(_path(home), json.dumps(asdict(asked)))


def _kept(home: Home) -> ReadingAgain | None:
    try:
        return ReadingAgain(**json.loads(_path(home).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
