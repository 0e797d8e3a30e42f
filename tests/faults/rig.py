"""What a trial works with: a lake, a way to look into it, and the databases that it captures for the trials."""

import itertools
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import psycopg
from confluent_kafka import KafkaException
from pyspark.sql import SparkSession
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_fixed

from lake.clients import stream_status
from lake.config.environment import Environment
from lake.local.stack import Stack
from lake.rendering.connector import REGISTRY_WRITER
from tests import remains
from tests.faults import evidence, source, workload
from tests.faults.marker import MarkerWatch
from tests.faults.source import Table
from tests.faults.workload import until
from tests.integration import readers
from tests.running_lake import RunningLake


@dataclass
class Rig:
    """A running lake; its databases for trials by name, with their tables."""

    lake: RunningLake
    spark: SparkSession
    seed: int
    databases: dict[str, tuple[Table, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.home: Environment = self.lake.home
        self.stack = Stack(self.home)
        self._numbers = itertools.count(1)

    @property
    def registry_login(self) -> tuple[str, str]:
        return REGISTRY_WRITER, self.home.secrets.registry_writer

    def gone(self) -> str:
        """What no trial can do without, and is not there though it was given time to come back; '' when all is."""
        if self.spark.sparkContext._gateway.proc.poll() is not None:
            return "the checker's Spark has ended"
        try:
            until(lambda: not self.stack.lost(), "a supervisor is not back", 60)
        except AssertionError as error:
            return str(error)
        return ""

    def new_name(self) -> str:
        return f"trial_{next(self._numbers)}"

    def create(self, database: str, tables: tuple[Table, ...]) -> None:
        """A source database with empty tables under audit, not yet captured."""
        self.lake.execute("postgres", f"CREATE DATABASE {database}")
        with psycopg.connect(self.home.dsn(database)) as connection:
            source.create(connection, tables)
        self.databases[database] = tables

    def capture(self, database: str) -> None:
        """`lake apply` with the tables of the database in the definition."""
        tables = self.databases[database]
        self.lake.define(database, {f"public.{table.name}": table.definition for table in tables})
        self.lake.apply()

    @contextmanager
    def temporary(self, tables: tuple[Table, ...]) -> Iterator[str]:
        """A captured database of its own, removed in the end."""
        database = self.new_name()
        self.create(database, tables)
        self.capture(database)
        try:
            yield database
        finally:
            self.remove(database)

    def remove(self, database: str) -> None:
        """Takes a database out of the definition, with its connector and slot."""
        (self.lake.databases / f"{database}.yaml").unlink(missing_ok=True)
        httpx.delete(
            f"{self.home.connect}/connectors/{self.connector(database)}",
            trust_env=False,
            auth=self.home.connect_login,
            timeout=60,
        )
        if list(self.lake.databases.glob("*.yaml")):
            self.lake.apply()
        remains.drop_slot(self.home, f"lake_{database}")
        del self.databases[database]

    def connector(self, database: str) -> str:
        return f"source_postgres_{database}"

    def load(self, database: str, seed: int, **settings: Any) -> workload.Workload:
        """Sessions that write to the tables of the database."""
        return workload.Workload(self.home.dsn(database), seed, self.databases[database], **settings)

    @contextmanager
    def session(self, database: str) -> Iterator["psycopg.Connection[Any]"]:
        with psycopg.connect(self.home.dsn(database)) as connection:
            yield connection

    def execute(self, database: str, *statements: str) -> None:
        """Each in a transaction of its own."""
        self.lake.execute(database, *statements)

    def rows(self, database: str, query: str) -> list[tuple[Any, ...]]:
        return readers.source_rows(self.home, database, query)

    def panics(self) -> list[str]:
        """The lines of PostgreSQL's log by which it ended itself: what follows one may be its fault."""
        logs = sorted(self.home.logs.glob("postgres.log*"))
        return [line for log in logs for line in log.read_text(errors="replace").splitlines() if " PANIC:" in line]

    # --- What the product says.

    def source_status(self, database: str) -> dict[str, Any]:
        sources: list[dict[str, Any]] = self.lake.json("status")["sources"]
        return {one["database"]: one for one in sources}[database]

    def drifts(self, database: str) -> list[str]:
        """What the guardian tells of a database."""
        return [one["what"] for one in self.lake.json("status")["drifts"] if one["database"] == database]

    def table_status(self, name: str) -> dict[str, Any]:
        """State and reason of a Hudi table ("shop_mor.item") or an archive ("bronze.shop.public.item")."""
        return {
            "state": "",
            "reason": "",
            **{k: v for k, v in stream_status.reported(self.home).get(name, {}).items() if v},
        }

    def wait_until_stopped(self, name: str, within_s: float = 60.0) -> None:
        until(lambda: self.table_status(name)["state"] == "stopped", f"{name} does not stop", within_s)

    def consumed(self, database: str, table: str) -> list[int]:
        """The next offset of each Hudi table of a source table."""
        found = next(one for one in self.databases[database] if one.name == table)
        return [sum(evidence.position(self.home, database, found, kind).values()) for kind in found.types]

    # --- The connector.

    def stop_connector(self, database: str) -> None:
        self._connector_put(database, "stop")
        slot = f"SELECT 1 FROM pg_replication_slots WHERE slot_name = 'lake_{database}' AND NOT active"
        until(lambda: bool(self.rows("postgres", slot)), "the connector keeps its slot")

    def start_connector(self, database: str) -> None:
        self._connector_put(database, "resume")

    def _connector_put(self, database: str, action: str) -> None:
        address = f"{self.home.connect}/connectors/{self.connector(database)}/{action}"
        httpx.put(address, trust_env=False, auth=self.home.connect_login, timeout=60).raise_for_status()

    def wait_for_messages(self, topic: str, least: int) -> int:
        readers.wait_for_end(self.home, topic, least)
        return readers.end_of(self.home, topic)

    # --- Coming to rest.

    def come_to_rest(self, database: str, within_s: float = 180.0) -> None:
        """Step a of the checker: a marker is seen in the lake, and the archive has all that is in the topics."""
        self.reach(database, within_s)
        self._await_archive(database, within_s)

    def reach(self, database: str, within_s: float = 180.0, every_s: float = 0.1) -> float:
        """Writes a marker row to each table and waits until every Hudi table is behind it; seconds until then."""
        tables, token = self.databases[database], uuid.uuid4().int >> 75
        with MarkerWatch(self.home, self._ends(database), token) as watch:
            with self.session(database) as connection:
                workload.perform(connection, [workload.marker(table, token) for table in tables])
                connection.commit()
            late = f"markers do not come through Kafka: {database}"
            took = until(watch.arrived, late, within_s, every_s, self._tasks)
        ends = self._ends(database)

        def lag() -> str:
            return "\n".join(f"{name}: {self.table_status(name)}" for name in self._behind(database, ends))

        return took + until(lambda: not self._behind(database, ends), f"tables lag: {database}", within_s, every_s, lag)

    def _tasks(self) -> str:
        """Where the threads of the connectors' tasks are: what holds one up for good writes no line of log."""
        pid = self.stack.supervisors["connect"].state().pid
        dump = subprocess.run(["jstack", str(pid)], capture_output=True, text=True, timeout=30, check=False).stdout
        return "\n\n".join(thread for thread in dump.split("\n\n") if thread.startswith('"task-thread'))

    @retry(retry=retry_if_exception_type(KafkaException), stop=stop_after_delay(60), wait=wait_fixed(0.5), reraise=True)
    def _ends(self, database: str) -> dict[str, int]:
        """Each table's topic and its next offset, once the broker tells."""
        topics = [table.topic(database) for table in self.databases[database]]
        return {topic: readers.end_of(self.home, topic) for topic in topics}

    def _behind(self, database: str, ends: dict[str, int]) -> list[str]:
        return [
            f"{database}_{kind}.{table.name}"
            for table in self.databases[database]
            for kind in table.types
            if sum(evidence.position(self.home, database, table, kind).values()) < ends[table.topic(database)]
        ]

    def _await_archive(self, database: str, within_s: float) -> None:
        ends = self._ends(database)

        def behind() -> list[str]:
            return [topic for topic in ends if evidence.archived(self.home, self.spark, topic) < ends[topic]]

        until(lambda: not behind(), "the archive does not catch up", within_s, every_s=1)

    def ends(self, database: str) -> dict[str, evidence.Evidence]:
        """The source and the lake alone."""
        return evidence.ends(self.home, self.spark, database, self.databases[database])

    def gather(self, database: str, compacted: bool = False) -> dict[str, evidence.Evidence]:
        """All that is found of the database's tables."""
        return evidence.gather(self.home, self.spark, database, self.databases[database], self.seed, compacted)
