"""How far the lake has come: what the streaming job reports, held against Kafka and the source."""

import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition

from lake.clients.connect import Connect
from lake.config.definition import Database
from lake.config.errors import LakeError
from lake.config.home import Home
from lake.config.report import Report
from lake.config.waiting import wait_while
from lake.sources.engines import engine_of

TIMEOUT_S = 10.0
Offsets = dict[str, int]  # partition to next offset


def reported(home: Home) -> dict[str, dict[str, Any]]:
    """Facts by table name ("moma_mor.artists", "bronze.moma.public.artists"); {} before the job has run."""
    try:
        tables: dict[str, dict[str, Any]] = json.loads((home.data / "status.json").read_text(encoding="utf-8"))[
            "tables"
        ]
    except FileNotFoundError:
        return {}
    return tables


def silent_s(home: Home) -> float:
    """Seconds since the streaming job last reported; 0 before it ever did."""
    try:
        written = (home.data / "status.json").stat().st_mtime
    except FileNotFoundError:
        return 0.0
    return max(0.0, time.time() - written)


def wait_for_lake(home: Home, databases: list[Database], report: Report, timeout_s: float = 180) -> None:
    """Returns once every table holds all that was committed in the sources when this was called.

    LakeError names the tables that are behind when the time is over.
    """
    deadline = time.monotonic() + timeout_s
    wait_for_snapshots(home, databases, report, timeout_s)
    for database in databases:
        goal = engine_of(database).capture.position(home.environment, database)
        _wait(partial(uncaptured, home, database, goal), report, deadline - time.monotonic())
    ends = end_offsets(home, [table.topic(database.database) for database in databases for table in database.tables])
    _wait(partial(behind, home, databases, ends), report, deadline - time.monotonic())


def wait_for_snapshots(home: Home, databases: list[Database], report: Report, timeout_s: float = 180) -> None:
    """Returns once Kafka has the first snapshot of every database.

    A new slot says that it has confirmed all that was committed before it was made: only Connect knows
    that the rows of before are still to be read. LakeError as wait_for_lake.
    """
    connect = Connect(home.connect)
    _wait(partial(_unread, connect, databases), report, timeout_s)


def _unread(connect: Connect, databases: list[Database]) -> list[str]:
    return [
        f"{one.connector} is reading its first snapshot" for one in databases if connect.snapshotting(one.connector)
    ]


def _wait(lacking: Callable[[], list[str]], report: Report, timeout_s: float) -> None:
    now = "see: lake status, lake logs stream"
    wait_while(
        lacking,
        timeout_s,
        lambda left: LakeError(f"not there in time: {'; '.join(left)}", "the lake", now),
        lambda left: report(", ".join(left)),
    )


def source_position(home: Home, database: Database) -> str:
    """Where the source's log stands now, as its engine writes it: "0/1A2B3C4"."""
    capture = engine_of(database).capture
    return capture.position_text(capture.position(home.environment, database))


def uncaptured(home: Home, database: Database, position: int) -> list[str]:
    """Empty once Kafka has acknowledged everything before the position."""
    capture = engine_of(database).capture
    is_captured = capture.is_captured(home.environment, database, position)
    return [] if is_captured else [f"{database.connector} before {capture.position_text(position)}"]


def end_offsets(home: Home, topics: list[str]) -> dict[str, Offsets]:
    """The next offset of every partition, by topic; LakeError when Kafka does not answer."""
    consumer = Consumer({"bootstrap.servers": home.kafka, "group.id": "lake-progress", "enable.auto.commit": False})
    try:
        return {topic: _ends(consumer, topic) for topic in topics}
    except KafkaException as error:
        raise LakeError(f"Kafka: {error.args[0].str()}", home.kafka, "run: lake up") from None
    finally:
        consumer.close()


def _ends(consumer: Consumer, topic: str) -> Offsets:
    partitions = consumer.list_topics(topic, timeout=TIMEOUT_S).topics[topic].partitions
    return {str(n): consumer.get_watermark_offsets(TopicPartition(topic, n), timeout=TIMEOUT_S)[1] for n in partitions}


def behind(home: Home, databases: list[Database], ends: dict[str, Offsets]) -> list[str]:
    """The Hudi tables whose commits end before the given offsets, with how far they are."""
    facts = reported(home)
    names = {
        f"{database.database}_{kind}.{table.name}": table.topic(database.database)
        for database in databases
        for table in database.tables
        for kind in table.types
    }
    return [
        f"{name} {done} of {sum(ends[topic].values())}"
        for name, topic in names.items()
        if (done := _done(facts.get(name, {}))) < sum(ends[topic].values())
    ]


def _done(facts: dict[str, Any]) -> int:
    return sum(facts.get("offsets", {}).values())
