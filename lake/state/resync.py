"""Reading tables again beside the stream: what was asked of the connectors, kept until the lake is in order.

An order (`_order`) below a table's bound belongs to what was in Kafka before the signal. Whatever the connector sends
after it, read or streamed, lies above, in the order of commit per key.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from lake.clients.connect import Connect, states
from lake.clients.stream_status import end_offsets
from lake.config.definition import EPOCH_SIZE, Database
from lake.config.errors import BadInput, LakeError
from lake.config.home import Home
from lake.config.report import Report
from lake.config.secrets import write_private
from lake.config.waiting import wait_while
from lake.sources.drift import Drift
from lake.sources.engines import engine_of

LOCK = "reading_again.lock"
BUSY = "another command reads tables again"
Ask = Callable[[str, list[str]], int]
Tables = list[dict[str, Any]]
PENDING = "incremental_snapshot_collections"


@dataclass(frozen=True)
class ReadingAgain:
    """What a command asks of the connector of one database: the bounds by topic, and a place in the log behind that.

    place is None while the connector is still to be asked, or again. Then there are new bounds, too.
    """

    command: str
    bounds: dict[str, int]
    place: int | None = None


def bound(home: Home, table: dict[str, Any]) -> int:
    """The least `_order` of whatever comes to the table's topic from now on. table: of the pipeline file.

    With several partitions that of the one that is furthest behind: no row of the others is taken for old.
    """
    ends = end_offsets(home, [table["topic"]])[table["topic"]]
    return int(table["epoch"]) * EPOCH_SIZE + min(ends.values())


def begin(home: Home, command: str, tables: Tables, ask: Ask) -> dict[str, ReadingAgain]:
    """Asks for all rows of the tables, or goes on where the same command was interrupted; by database.

    ask: makes the connector of a database read the tables (schema.table) and gives a place in the log behind that.
    """
    return {name: _begun(home, command, name, own, ask) for name, own in sorted(_by_database(tables).items())}


def refuse_less(home: Home, command: str, tables: Tables) -> None:
    """BadInput where another command was interrupted that had begun to read more: its ghosts would be forgotten."""
    for database, own in _by_database(tables).items():
        kept = _kept(home, database)
        if kept and kept.command != command and not _topics(own) >= kept.bounds.keys():
            what = f"'{kept.command}' was interrupted, which had begun to read more of {database}"
            raise BadInput(what, command, f"run first: {kept.command}, or: lake recover {database}")


def _begun(home: Home, command: str, database: str, tables: Tables, ask: Ask) -> ReadingAgain:
    kept = _kept(home, database)
    if kept and kept.command == command and kept.place is not None and kept.bounds.keys() >= _topics(tables):
        return kept
    asked = ReadingAgain(command, {table["topic"]: bound(home, table) for table in tables})
    _keep(home, database, asked)
    asked = replace(asked, place=ask(database, [f"{table['schema']}.{table['table']}" for table in tables]))
    _keep(home, database, asked)
    return asked


def pending(home: Home, database: Database) -> list[Drift]:
    """That a command was interrupted which had begun to read tables of the database again."""
    kept = _kept(home, database.database)
    return [Drift(database.database, "", "reading tables again was interrupted", kept.command)] if kept else []


def of_database(home: Home, database: Database) -> set[str]:
    """The topics of its tables that an interrupted command had begun to read."""
    kept = _kept(home, database.database)
    return set(kept.bounds) if kept else set()


def ask_anew(home: Home, database: str) -> None:
    """What the connector was asked is void: the same tables are still to be read, from the beginning."""
    if kept := _kept(home, database):
        _keep(home, database, replace(kept, place=None))


def end(home: Home, database: str) -> None:
    """Its tables were read, and what the source no longer has is swept."""
    _path(home, database).unlink(missing_ok=True)


def _by_database(tables: Tables) -> dict[str, Tables]:
    own: dict[str, Tables] = {}
    for table in tables:
        own.setdefault(table["database"], []).append(table)
    return own


def _topics(tables: Tables) -> set[str]:
    return {table["topic"] for table in tables}


def await_read(
    home: Home, databases: list[Database], begun: dict[str, ReadingAgain], timeout_s: float, report: Report
) -> None:
    """Returns once Kafka has all that the connectors read for it; LakeError when one fails or the time is over."""
    connect, now = Connect(home.connect), "run it again to go on waiting; it is not begun anew"
    wanted = [(one, begun[one.database].place or 0) for one in databases if one.database in begun]
    wait_while(
        lambda: [line for one, place in wanted for line in unread(connect, one, place)],
        timeout_s,
        lambda left: LakeError(f"still to be read: {', '.join(left)}", f"after {timeout_s:.0f} s", now),
        lambda left: report(f"reading {', '.join(left)}"),
    )


def unread(connect: Connect, database: Database, position: int) -> list[str]:
    """The tables that the connector still has to read, by its own offset, which Kafka acknowledged."""
    _refuse_failed(connect, database)
    if connect.snapshotting(database.connector):
        return [f"the first snapshot of {database.connector}"]
    offset = connect.offset(database.connector) or {}
    if engine_of(database).capture.streamed(offset) < position:
        return [f"what {database.connector} was asked for"]
    return [f"{database.database}.{one[f'{PENDING}_id']}" for one in json.loads(offset.get(PENDING) or "[]")]


def _refuse_failed(connect: Connect, database: Database) -> None:
    found = states(connect.status(database.connector)) or ["absent"]
    if found[0] in ("PAUSED", "STOPPED", "absent") or "FAILED" in found:
        now = "see: lake status; once it runs, run this again"
        raise LakeError(f"the connector is {', '.join(found)}", f"connector {database.connector}", now)


def _path(home: Home, database: str) -> Path:
    return home.data / "reading_again" / f"{database}.json"


def _keep(home: Home, database: str, asked: ReadingAgain) -> None:
    write_private(_path(home, database), json.dumps(asdict(asked)))


def _kept(home: Home, database: str) -> ReadingAgain | None:
    try:
        return ReadingAgain(**json.loads(_path(home, database).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
