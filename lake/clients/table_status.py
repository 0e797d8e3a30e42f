"""The status of tables (rows, lag, position) and of their sources (connector, slot)."""

from dataclasses import dataclass
from typing import Any

from lake.clients.connect import Connect, failure
from lake.clients.stream_status import reported, silent_s
from lake.config.definition import DEFAULT_ENGINE, Database
from lake.config.environment import Environment
from lake.config.errors import LakeError
from lake.config.names import command_line
from lake.rendering.pipeline import read_pipeline
from lake.sources.drift import BEHIND_S
from lake.sources.engines import engine_named, engine_of

STALE_S = 15.0
UNAPPLIED = "not applied"  # a connector that lake apply has not created yet


@dataclass(frozen=True)
class TableStatus:
    """One Hudi table or archived topic; lag over the changes of the last minute, None when there were none."""

    name: str
    state: str
    rows: int | None
    lag_p50_s: float | None
    lag_p95_s: float | None
    lsn: str | None
    committed_at: float | None
    reason: str = ""
    quarantined: int = 0  # messages set aside, neither replayed nor dropped
    behind_s: float = 0.0  # how long Kafka has had messages that are not in the table


@dataclass(frozen=True)
class SourceStatus:
    """One source database: its connector, its tasks, its slot, and the bytes of log that the slot retains."""

    database: str
    connector: str
    tasks: list[str]
    slot: str
    retained_wal_bytes: int | None
    reason: str = ""


def tables(home: Environment) -> list[TableStatus]:
    """All tables that the streaming job writes, by name; 'stale' when it no longer reports."""
    return of_report(reported(home), silent_s(home), STALE_S)


def of_report(reported: dict[str, dict[str, Any]], silent: float, stale_s: float) -> list[TableStatus]:
    """All tables of one report, by name.

    States: 'stale' if the report is too old; 'behind' if a table lags; 'unserved' if a table is written, but its table
    services or its entry in the metastore fail.
    """
    stale = {"state": "stale", "reason": f"no report for {silent:.0f} s"} if silent > stale_s else {}
    return [_table(name, {**facts, **stale}) for name, facts in sorted(reported.items())]


def sources(home: Environment, databases: list[Database]) -> list[SourceStatus]:
    """All captured databases. State 'unknown' with the reason if Connect does not answer."""
    return [_source(home, database) for database in databases]


def healthy(tables: list[TableStatus], sources: list[SourceStatus]) -> bool:
    """True if every table is written, the quarantine is empty, and every connector and task runs."""
    written = all(table.state == "running" and not table.quarantined for table in tables)
    return written and all(one.connector == UNAPPLIED or {one.connector, *one.tasks} == {"RUNNING"} for one in sources)


def _table(name: str, facts: dict[str, Any]) -> TableStatus:
    lag = facts.get("lag_ms") or {}
    state, reason = _state(facts)
    capture = engine_named(facts.get("engine", DEFAULT_ENGINE), f"the report of {name}").capture
    return TableStatus(
        name,
        state,
        facts.get("rows"),
        _seconds(lag.get("p50")),
        _seconds(lag.get("p95")),
        capture.position_text(facts["lsn"]) if facts.get("lsn") else None,
        facts.get("committed_at"),
        reason,
        facts.get("quarantined", 0),
        facts.get("behind_s", 0.0),
    )


def _state(facts: dict[str, Any]) -> tuple[str, str]:
    """The state, and the reason if it is not running."""
    state, behind = facts.get("state", "unknown"), facts.get("behind_s", 0.0)
    if state == "running" and behind > BEHIND_S:
        return "behind", f"Kafka has held messages for {behind:.0f} s that are not in the table"
    failure = _unserved(facts)
    return "unserved" if state == "running" and failure else state, facts.get("reason") or failure


def _unserved(facts: dict[str, Any]) -> str:
    """The failure of a table service (files pile up) or of the metastore (queries miss columns and partitions)."""
    named = {"service_failure": "table service failed", "sync_failure": "the metastore is not up to date"}
    failures = [f"{what}: {facts[name]}" for name, what in named.items() if facts.get(name)]
    return "; ".join([*failures, "it is tried again, see: lake jobs logs stream"] if failures else [])


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


def _source(home: Environment, database: Database) -> SourceStatus:
    connector, tasks, reason = _connector(home, database)
    slot, retained = engine_of(database).capture.status(home, database)
    return SourceStatus(database.database, connector, tasks, slot, retained, reason)


def _connector(home: Environment, database: Database) -> tuple[str, list[str], str]:
    try:
        status = Connect(home).status(database.connector)
    except LakeError as error:
        return "unknown", [], str(error)
    if not status:
        applied = database.database in {one["database"] for one in read_pipeline(home).get("tables", [])}
        return "absent" if applied else UNAPPLIED, [], "run: lake apply"
    tasks = [task["state"] for task in status["tasks"]]
    return status["connector"]["state"], tasks, _reason(failure(status), database)


def _reason(why: str, database: Database) -> str:
    """Why a task failed, and what leads on: the guardian starts it again, which may not be enough."""
    return f"{why}; if it fails again and again: {command_line('recover', database.database)}" if why else ""
