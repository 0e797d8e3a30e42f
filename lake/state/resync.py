"""A re-snapshot: a connector reads tables again while it streams. The request is kept until the lake is in order.

Rows with an `_order` below a table's bound were in Kafka before the request. All that the connector sends after it,
read or streamed, has a greater `_order`, per key in the order of commits.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from lake.clients.connect import Connect, failure, states
from lake.clients.kafka import Broker
from lake.config.definition import EPOCH_SIZE, Database
from lake.config.environment import Environment
from lake.config.errors import BadInput, LakeError
from lake.config.files import read_json, replace_json
from lake.config.lock import await_free, is_locked, locked
from lake.config.names import command_line, source_name
from lake.config.report import Report
from lake.config.waiting import wait_while
from lake.sources.drift import Drift
from lake.sources.engines import engine_of

LOCK = "reading_again.lock"
BUSY = "another command is re-snapshotting tables"
Request = Callable[[str, list[str]], int]
Tables = list[dict[str, Any]]
PENDING = "incremental_snapshot_collections"


@dataclass(frozen=True)
class Resync:
    """The request of a command to the connector of one database. bounds: by topic.

    place: a position in the source's log after the request; None if it must be sent, with new bounds.
    """

    command: str
    bounds: dict[str, int]
    place: int | None = None


@contextmanager
def turn(home: Environment, timeout_s: float, report: Report) -> Iterator[None]:
    """Re-snapshots take turns: waits for another command, or for the guardian, which repairs by itself."""
    lock = home.data / LOCK
    if is_locked(lock):
        report("waiting for another re-snapshot, by the guardian (lake logs guardian) or a command")
    await_free(lock, BUSY, timeout_s)
    with locked(lock, BUSY):
        yield


def bound(home: Environment, table: dict[str, Any]) -> int:
    """The least `_order` of all messages that come to the table's topic from now on. table: of the pipeline file.

    With several partitions it is the bound of the shortest one, so that no new row of another one counts as old.
    """
    ends = Broker(home.kafka_bootstrap).end_offsets([table["topic"]])[table["topic"]]
    return int(table["epoch"]) * EPOCH_SIZE + min(ends.values())


def begin(home: Environment, command: str, tables: Tables, request: Request) -> dict[str, Resync]:
    """Requests all rows of the tables, or continues an interrupted run of the same command; by database.

    request: makes the connector of a database read the tables (schema.table); returns a position after that.
    """
    return {name: _begun(home, command, name, own, request) for name, own in _by_database(tables).items()}


def check_interrupted(home: Environment, command: str, tables: Tables) -> None:
    """BadInput if another interrupted command had begun to read more tables: their orphaned rows would stay."""
    for database, own in _by_database(tables).items():
        kept = _kept(home, database)
        if kept and kept.command != command and not _topics(own) >= kept.bounds.keys():
            what = f"'{kept.command}' was interrupted and had begun to read more tables of {database}"
            raise BadInput(what, command, f"run first: {kept.command}, or: {command_line('recover', database)}")


def _begun(home: Environment, command: str, database: str, tables: Tables, request: Request) -> Resync:
    kept = _kept(home, database)
    if kept and kept.command == command and kept.place is not None and kept.bounds.keys() >= _topics(tables):
        return kept
    wanted = Resync(command, {table["topic"]: bound(home, table) for table in tables})
    _keep(home, database, wanted)
    wanted = replace(wanted, place=request(database, [source_name(table) for table in tables]))
    _keep(home, database, wanted)
    return wanted


def pending(home: Environment, database: Database) -> list[Drift]:
    """A drift if a command that re-snapshots tables of the database was interrupted."""
    kept = _kept(home, database.database)
    return [Drift(database.database, "", "a re-snapshot was interrupted", kept.command)] if kept else []


def unfinished_topics(home: Environment, database: Database) -> set[str]:
    """The topics whose tables an interrupted command had begun to read."""
    kept = _kept(home, database.database)
    return set(kept.bounds) if kept else set()


def request_again(home: Environment, database: str) -> None:
    """Cancels the request; the same tables must be read from the beginning."""
    if kept := _kept(home, database):
        _keep(home, database, replace(kept, place=None))


def end(home: Environment, database: str) -> None:
    """Deletes the request: its tables were read and their orphaned rows deleted."""
    _path(home, database).unlink(missing_ok=True)


def _by_database(tables: Tables) -> dict[str, Tables]:
    names = sorted({table["database"] for table in tables})
    return {name: [table for table in tables if table["database"] == name] for name in names}


def _topics(tables: Tables) -> set[str]:
    return {table["topic"] for table in tables}


def await_read(
    home: Environment, databases: list[Database], begun: dict[str, Resync], timeout_s: float, report: Report
) -> None:
    """Returns once Kafka has all rows that the connectors read; LakeError when one fails or the time is over."""
    connect, now = Connect(home), "run it again to continue waiting; nothing is read twice"
    wanted = [(one, begun[one.database].place or 0) for one in databases if one.database in begun]
    wait_while(
        lambda: [line for one, position in wanted for line in unread(connect, one, position)],
        timeout_s,
        lambda left: LakeError(f"still to be read: {', '.join(left)}", f"after {timeout_s:.0f} s", now),
        lambda left: report(f"reading {', '.join(left)}"),
    )


def unread(connect: Connect, database: Database, position: int) -> list[str]:
    """The tables that the connector still has to read, by the offset that Kafka acknowledged."""
    _require_running(connect, database)
    if connect.snapshotting(database.connector):
        return [f"the first snapshot of {database.connector}"]
    offset = connect.offset(database.connector) or {}
    if engine_of(database).capture.streamed(offset) < position:
        return [f"what {database.connector} was requested to read"]
    return [f"{database.database}.{one[f'{PENDING}_id']}" for one in json.loads(offset.get(PENDING) or "[]")]


def _require_running(connect: Connect, database: Database) -> None:
    status = connect.status(database.connector)
    found = states(status) or ["absent"]
    if found[0] in ("PAUSED", "STOPPED", "absent") or "FAILED" in found:
        now = "see: lake status; once it runs, run this again"
        what = ": ".join(filter(None, (f"the connector is {', '.join(found)}", failure(status))))
        raise LakeError(what, f"connector {database.connector}", now)


def _path(home: Environment, database: str) -> Path:
    return home.data / "reading_again" / f"{database}.json"


def _keep(home: Environment, database: str, wanted: Resync) -> None:
    replace_json(_path(home, database), asdict(wanted))


def _kept(home: Environment, database: str) -> Resync | None:
    content = read_json(_path(home, database))
    return Resync(**content) if content else None
