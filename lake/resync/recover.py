"""Recovers a capture: repairs what the guardian reports, and re-snapshots the tables that lost changes."""

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from lake.aws.environment import LOCAL
from lake.clients.connect import Connect, runs, states
from lake.config.definition import Database
from lake.config.environment import Environment
from lake.config.errors import BadInput, LakeError
from lake.config.names import command_line, named_tables, source_name
from lake.config.report import Report
from lake.config.waiting import wait_until
from lake.guardian.inspect import Inspection, accept_server, inspect
from lake.plan.run import apply_all
from lake.rendering.pipeline import read_pipeline
from lake.resync import broken_place
from lake.resync.broken_place import BrokenPlace
from lake.resync.finish import Tables, prove, read_again
from lake.resync.request import snapshot_request
from lake.sources.drift import Drift
from lake.sources.engines import engine_of
from lake.state import dropped, resync

WITHIN_S = 60.0


def recovered(
    home: Environment, database: Database, timeout_s: float, report: Report, anew: bool = False
) -> dict[str, Any]:
    """The result of read_again() or prove(), with the drifts that were found.

    anew: the connector gets a new slot in any case. In "passed": the part of the log that was passed over.
    """
    before = inspect(home, database).drifts
    report("correcting what differs from the definition")
    refusal = _applied(home, database, report)
    found = inspect(home, database)
    drifts = list(dict.fromkeys([*before, *found.drifts]))
    place = _place(home, replace(found, drifts=drifts), anew, report)
    result = repair(home, replace(found, drifts=drifts), timeout_s, report, place)
    if refusal:
        apply_all(LOCAL, report).demand(database.database)
    if result["equal"]:
        dropped.forget(home, database.database)
    return {**result, "drifts": [drift.what for drift in drifts]}


def _applied(home: Environment, database: Database, report: Report) -> LakeError | None:
    """Applies the definition. A connector that fails at a change may hinder that; then it is done afterwards."""
    try:
        apply_all(LOCAL, report).demand(database.database)
    except LakeError as refusal:
        if isinstance(refusal, BadInput) or not broken_place.failed(Connect(home), database):
            raise
        return refusal
    return None


def _place(home: Environment, found: Inspection, anew: bool, report: Report) -> BrokenPlace | None:
    """The place in the log that no start of the connector leads past, with what is passed over; None without one."""
    if anew:
        place: BrokenPlace | None = broken_place.here(home, found.database, "a new slot was asked for")
    elif any(drift.gap for drift in found.drifts):
        return None
    elif lost := _without_key(found):
        place = broken_place.here(home, found.database, f"{', '.join(lost)}: without a key only a new slot reads them")
    else:
        place = broken_place.find(home, found.database, report)
    if place is None:
        return None
    report(f"passing over {place.start}: {place.reason}")
    _stop(Connect(home), found.database)
    return broken_place.passed_over(home, found.database, place)


def _without_key(found: Inspection) -> list[str]:
    """The tables without a key that lost changes: they can't be read beside the stream (ADR 48)."""
    lost = {drift.table for drift in found.drifts if drift.lost}
    return [table.full_name for table in found.database.tables if table.full_name in lost and table.without_key]


def repair(
    home: Environment, found: Inspection, timeout_s: float, report: Report, place: BrokenPlace | None = None
) -> dict[str, Any]:
    """The result of read_again(), or of prove() if nothing has to be read. place: is passed over.

    Without a slot there is a gap, also where no drift says so: before the connector's first record.
    """
    database, command = found.database, command_line("recover", found.database.database)
    whole = named_tables(read_pipeline(home), [database.database])
    if place or found.capture is None or any(drift.gap for drift in found.drifts):
        resync.request_again(home, database.database)  # after a gap the connector has lost the request
        result = read_again(home, command, whole, partial(_start_again, home, found), timeout_s, report)
        return {**result, "passed": asdict(place)} if place else result
    _resume(Connect(home), database)
    if tables := affected(whole, found.drifts, resync.unfinished_topics(home, database)):
        return read_again(home, command, tables, snapshot_request(home), timeout_s, report)
    resync.end(home, database.database)  # of tables that left the definition
    return prove(home, whole, timeout_s, report)


def affected(whole: Tables, drifts: list[Drift], begun: set[str]) -> Tables:
    """The tables that lost changes, and those that an interrupted command began to read."""
    lost = {drift.table for drift in drifts if drift.lost}
    return [table for table in whole if source_name(table) in lost or table["topic"] in begun]


def _start_again(home: Environment, found: Inspection, name: str, tables: list[str]) -> int:
    """Creates a new capture, and deletes the offsets of the connector, which then reads all tables and streams.

    Offsets in Kafka continue, so the new messages are newer than all earlier ones: no new epoch is needed. The server
    is accepted at the end: an interrupted command continues, and does not find another gap.
    """
    database, connect, environment = found.database, Connect(home), home
    capture = engine_of(database).capture
    _stop(connect, database)
    _until(lambda: connect.forget(database.connector), f"connector {database.connector} does not stop")
    _until(lambda: capture.reset(environment, database), f"the capture of {name} is still in use")
    _resume(connect, database)
    position = capture.position(environment, database)
    accept_server(home, found)
    return position


def _stop(connect: Connect, database: Database) -> None:
    """Stops the connector; its slot is free then."""
    connect.tell(database.connector, "stop")
    stopped = f"connector {database.connector} does not stop"
    _until(lambda: states(connect.status(database.connector)) == ["STOPPED"], stopped)


def _resume(connect: Connect, database: Database) -> None:
    """Starts the connector and its task if they were stopped or have failed."""
    found = states(connect.status(database.connector))
    if found[:1] in (["STOPPED"], ["PAUSED"]):
        connect.tell(database.connector, "resume")
    elif "FAILED" in found:
        connect.tell(database.connector, "restart")
    _until(lambda: runs(connect.status(database.connector)), f"connector {database.connector} does not run")


def _until(is_so: Callable[[], bool], otherwise: str) -> None:
    now = "see: lake status, lake logs connect; then run it again"
    wait_until(is_so, WITHIN_S, LakeError(f"{otherwise} after {WITHIN_S:.0f} s", "lake recover", now))
