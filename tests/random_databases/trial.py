"""Random databases in one lake: each is made, captured, changed and migrated while it is captured, and proven."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import psycopg
from psycopg import sql

from lake.clients import stream_status
from lake.clients.connect import Connect, failure
from lake.config.definition import Database
from lake.config.errors import LakeError
from lake.config.report import silent
from lake.guardian.repairs import stopped
from tests.random_databases.database import RandomDatabase, Transactions, run
from tests.random_databases.verdict import Outcome, Verdict, judge
from tests.running_lake import RunningLake

SETTLE_S = 600.0  # on a busy machine; a table that is late without a word is a fault
LOOK_S = 10.0
VERIFY_S = "20"  # a table that stopped never gets there
# Captures databases, and gives the relations that it left out, with the reason, for each of them.
Capture = Callable[[RunningLake, Sequence[RandomDatabase]], dict[str, dict[str, str]]]


class Trial:
    """Some databases in a lake."""

    def __init__(self, lake: RunningLake, databases: Sequence[RandomDatabase], capture: Capture) -> None:
        self.lake, self.databases, self._capture = lake, databases, capture
        self.harmed: dict[str, list[str]] = {one.name: [] for one in databases}

    def verdicts(self) -> dict[str, Verdict]:
        return {name: judge(outcome) for name, outcome in self.outcomes().items()}

    def outcomes(self) -> dict[str, Outcome]:
        for one in self.databases:
            one.create(self.lake.home.dsn("postgres"))
            self._run(one, one.first)
        left_out = self._capture(self.lake, self.databases)
        for steps in zip(*(one.steps for one in self.databases), strict=True):
            self._settle()
            for one, step in zip(self.databases, steps, strict=True):
                self._run(one, step)
        self._settle()
        return self._outcomes(left_out)

    def leave(self) -> None:
        """Takes the databases out of the lake and drops them."""
        self.lake.forget(*(one.name for one in self.databases))
        with psycopg.connect(self.lake.home.dsn("postgres"), autocommit=True) as connection:
            for one in self.databases:
                connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(one.name)))

    def _run(self, one: RandomDatabase, step: Transactions) -> None:
        """What PostgreSQL refuses is kept: nothing that a random database does is wrong by itself."""
        for transaction in step:
            try:
                run(self.lake.home.dsn(one.name), [transaction])
            except psycopg.Error as error:
                self.harmed[one.name].append(f"{str(error).splitlines()[0]}: {transaction[:200]}")

    def _settle(self) -> None:
        """Returns when each table holds what is committed now, or is told not to, or is late without a word."""
        end = time.monotonic() + SETTLE_S
        while time.monotonic() < end and any(not self._is_settled(one) for one in self._captured()):
            pass

    def _captured(self) -> list[Database]:
        ours = {one.name for one in self.databases}
        return [one for one in self.lake.definitions() if one.database in ours]

    def _is_settled(self, database: Database) -> bool:
        """True if all tables that are not stopped are up to date."""
        if failure(Connect(self.lake.home).status(database.connector) or {}):
            return True
        stuck = stopped(self.lake.home, database)
        running = {name: table for name, table in database.by_name.items() if name not in stuck}
        try:
            stream_status.wait_for_lake(
                self.lake.home, [database.model_copy(update={"by_name": running})], silent, LOOK_S
            )
        except LakeError:
            return False
        return True

    def _outcomes(self, left_out: dict[str, dict[str, str]]) -> dict[str, Outcome]:
        tables = {name: found for one in self._captured() for name, found in _hudi_tables(one)}
        captured = [one.database for one in self._captured()]
        verified = self.lake.json("verify", *captured, "--timeout", VERIFY_S)["tables"] if captured else {}
        status = self.lake.json("status")
        return {
            one.name: Outcome(
                {**one.shapes, **one.obstacles},
                left_out.get(one.name, {}),
                tuple(self.harmed[one.name]),
                _of_database(one.name, verified),
                dict(told(one.name, status, tables)),
            )
            for one in self.databases
        }


def _of_database(database: str, verified: dict[str, Any]) -> dict[str, Any]:
    return {
        name.removeprefix(f"{database}."): found for name, found in verified.items() if name.startswith(f"{database}.")
    }


def _hudi_tables(database: Database) -> Iterator[tuple[str, tuple[str, str]]]:
    """Each Hudi table with its database and the name of the source's table."""
    full_names = {table.topic(database.database): full_name for full_name, table in database.by_name.items()}
    for name, topic in database.hudi_tables.items():
        yield name, (database.database, full_names[topic])


def told(database: str, status: dict[str, Any], tables: Mapping[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """What `lake status` says is wrong, by table; "" for the whole database. tables: by the name of a Hudi table."""
    for one in status["drifts"]:
        if one["database"] == database:
            yield one["table"], one["what"]
    for one in status["sources"]:
        if one["database"] == database and {one["connector"], *one["tasks"]} != {"RUNNING"}:
            yield "", f"connector {one['connector']}: {one['reason']}"
    for one in status["tables"]:
        owner, table = tables.get(one["name"], ("", ""))
        if owner == database and one["state"] != "running":
            yield table, f"{one['state']}: {one['reason']}"
