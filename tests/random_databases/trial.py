"""Random databases in one lake: each is made, captured, changed and migrated while it is captured, and proven."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import psycopg

from lake.clients import stream_status
from lake.config.errors import LakeError
from tests.random_databases.database import RandomDatabase, Transactions, run
from tests.random_databases.verdict import Outcome, Verdict, judge
from tests.running_lake import RunningLake

SETTLE_S = 60.0  # a table that stopped is never up to date
VERIFY_S = "15"
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

    def _run(self, one: RandomDatabase, step: Transactions) -> None:
        """What PostgreSQL refuses is kept: nothing that a random database does is wrong by itself."""
        for transaction in step:
            try:
                run(self.lake.home.dsn(one.name), [transaction])
            except psycopg.Error as error:
                self.harmed[one.name].append(f"{str(error).splitlines()[0]}: {transaction[:200]}")

    def _settle(self) -> None:
        """Returns when the lake holds what is committed now, or does not get there."""
        ours = {one.name for one in self.databases}
        captured = [one for one in self.lake.definitions() if one.database in ours]
        with suppress(LakeError):
            stream_status.wait_for_lake(self.lake.home, captured, lambda line: None, SETTLE_S)

    def _outcomes(self, left_out: dict[str, dict[str, str]]) -> dict[str, Outcome]:
        topics = {name: topic for one in self.lake.definitions() for name, topic in one.hudi_tables.items()}
        verified, status = self.lake.json("verify", "--timeout", VERIFY_S)["tables"], self.lake.json("status")
        return {
            one.name: Outcome(
                {**one.shapes, **one.obstacles},
                left_out.get(one.name, {}),
                tuple(self.harmed[one.name]),
                _of_database(one.name, verified),
                dict(told(one.name, status, topics)),
            )
            for one in self.databases
        }


def _of_database(database: str, verified: dict[str, Any]) -> dict[str, Any]:
    return {
        name.removeprefix(f"{database}."): found for name, found in verified.items() if name.startswith(f"{database}.")
    }


def told(database: str, status: dict[str, Any], topics: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What `lake status` says is wrong, by table; "" for the whole database. topics: by the name of a Hudi table."""
    for one in status["drifts"]:
        if one["database"] == database:
            yield one["table"], one["what"]
    for one in status["sources"]:
        if one["database"] == database and {one["connector"], *one["tasks"]} != {"RUNNING"}:
            yield "", f"connector {one['connector']}: {one['reason']}"
    for one in status["tables"]:
        owner, _, table = topics.get(one["name"], "").partition(".")
        if owner == database and one["state"] != "running":
            yield table, f"{one['state']}: {one['reason']}"
