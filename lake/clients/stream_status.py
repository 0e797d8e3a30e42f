"""The progress of the lake: the report of the streaming job, compared with Kafka and the source."""

import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from lake.clients.connect import Connect
from lake.clients.kafka import Broker, Offsets
from lake.config.definition import Database
from lake.config.environment import Environment
from lake.config.errors import LakeError
from lake.config.report import Report
from lake.config.waiting import wait_while
from lake.sources.engines import engine_of


def reported(home: Environment) -> dict[str, dict[str, Any]]:
    """Facts by table name ("moma_mor.artists", "bronze.moma.public.artists"); {} before the job has run."""
    return dict(_report(home).get("tables", {}))


def spark(home: Environment) -> str:
    """The version of Spark that the streaming job reported last; "" before it has run."""
    return str(_report(home).get("spark", ""))


def _report(home: Environment) -> dict[str, Any]:
    try:
        return dict(json.loads((home.data / "status.json").read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {}


def silent_s(home: Environment) -> float:
    """Seconds since the streaming job last reported; 0 before it ever did."""
    path = home.data / "status.json"
    return max(0.0, time.time() - path.stat().st_mtime) if path.exists() else 0.0


def wait_for_lake(home: Environment, databases: list[Database], report: Report, timeout_s: float = 180) -> None:
    """Returns once every table holds all that was committed in the sources when this was called.

    LakeError names the tables that are behind, once nothing has come for the timeout.
    """
    wait_for_snapshots(home, databases, report, timeout_s)
    for database in databases:
        goal = engine_of(database).capture.position(home, database)
        _wait(partial(uncaptured, home, database, goal), report, timeout_s)
    ends = Broker(home.kafka_bootstrap).end_offsets([topic for one in databases for topic in one.hudi_tables.values()])
    _wait(partial(behind, home, databases, ends), report, timeout_s)


def wait_for_snapshots(home: Environment, databases: list[Database], report: Report, timeout_s: float = 180) -> None:
    """Returns once Kafka has the first snapshot of every database.

    The confirmed position of a new slot includes all earlier commits. Only Connect knows that the earlier rows still
    have to be read. LakeError as wait_for_lake.
    """
    connect = Connect(home)
    _wait(partial(_unread, connect, databases), report, timeout_s)


def _unread(connect: Connect, databases: list[Database]) -> list[str]:
    names = [one.connector for one in databases if connect.snapshotting(one.connector)]
    return [f"{name} is reading its first snapshot" for name in names]


def _wait(lacking: Callable[[], list[str]], report: Report, timeout_s: float) -> None:
    now = "see: lake status, lake logs stream"
    wait_while(
        lacking,
        timeout_s,
        lambda left: LakeError(f"nothing came for {timeout_s:.0f} s: {'; '.join(left)}", "the lake", now),
        lambda left: report(", ".join(left)),
        since_progress=True,
    )


def source_position(home: Environment, database: Database) -> str:
    """The current position of the source's log, as text: "0/1A2B3C4"."""
    capture = engine_of(database).capture
    return capture.position_text(capture.position(home, database))


def uncaptured(home: Environment, database: Database, position: int) -> list[str]:
    """Empty once Kafka has acknowledged everything before the position."""
    capture = engine_of(database).capture
    is_captured = capture.is_captured(home, database, position)
    return [] if is_captured else [f"{database.connector} before {capture.position_text(position)}"]


def behind(home: Environment, databases: list[Database], ends: dict[str, Offsets]) -> list[str]:
    """The Hudi tables whose commits end before the given offsets, with how far they are."""
    facts = reported(home)
    found = []
    for name, topic in ((name, topic) for one in databases for name, topic in one.hudi_tables.items()):
        done, end = sum(facts.get(name, {}).get("offsets", {}).values()), sum(ends[topic].values())
        found += [f"{name} {done} of {end}"] if done < end else []
    return found
