"""A place in the source's log where a connector fails each time, and no start leads past it."""

from dataclasses import dataclass, replace

from lake.clients.connect import Connect, failure, states
from lake.config.definition import Database
from lake.config.environment import Environment
from lake.config.errors import LakeError
from lake.config.report import Report
from lake.config.waiting import becomes
from lake.sources.engines import engine_of

# In the trace of a task that failed at a change: Debezium's words while it streams, and Connect's while it converts.
AT_A_CHANGE = ("change event producer", "TransformationChain", "convertTransformedRecord", "Tolerance exceeded")
STARTED_WITHIN_S = 15.0
PASSED_WITHIN_S = 60.0


@dataclass(frozen=True)
class BrokenPlace:
    """start: the position that Kafka acknowledged; end: where the log was read again. changes: in between, by table."""

    reason: str
    start: str
    end: str = ""
    changes: dict[str, int] | None = None


def failed(connect: Connect, database: Database) -> bool:
    return "FAILED" in states(connect.status(database.connector))


def find(home: Environment, database: Database, report: Report) -> BrokenPlace | None:
    """Where a connector fails, if it fails again after a start. LakeError if it does not even start.

    One that runs may have been started just now, by `lake apply` or the guardian, and fails within a second.
    """
    connect = Connect(home)
    if failed(connect, database):
        report(f"{database.connector} has failed; it is started again")
        connect.tell(database.connector, "restart")
    elif "RUNNING" not in states(connect.status(database.connector)):
        return None
    if _goes_on(home, connect, database):
        return None
    status = connect.status(database.connector)
    traces = [task.get("trace", "") for task in status.get("tasks", [])]
    if not any(words in trace for trace in traces for words in AT_A_CHANGE):
        now = "correct the cause, or take the table that it names out of the definition; then run it again"
        raise LakeError(f"the connector fails before any change: {failure(status)}", database.connector, now)
    return here(home, database, failure(status))


def here(home: Environment, database: Database, reason: str) -> BrokenPlace:
    """The place where the connector stands."""
    capture = engine_of(database).capture
    start = capture.acknowledged(Connect(home).offset(database.connector))
    return BrokenPlace(reason, capture.position_text(start))


def _goes_on(home: Environment, connect: Connect, database: Database) -> bool:
    """False if the task fails again; True once Kafka has all that was committed by now, or after a minute of work."""
    capture = engine_of(database).capture
    end = capture.position(home, database)
    # Until the worker has heard of the restart it tells of the earlier failure.
    becomes(lambda: not failed(connect, database), STARTED_WITHIN_S)
    becomes(lambda: failed(connect, database) or capture.is_captured(home, database, end), PASSED_WITHIN_S)
    return not failed(connect, database)


def passed_over(home: Environment, database: Database, place: BrokenPlace) -> BrokenPlace:
    """The place with all that a new capture passes over. The connector must be stopped."""
    capture = engine_of(database).capture
    end = capture.position_text(capture.position(home, database))
    return replace(place, end=end, changes=capture.changes_ahead(home, database))
