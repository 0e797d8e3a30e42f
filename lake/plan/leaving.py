"""What left the definition: it is captured on until somebody confirms it, and is then taken out with all that is ours.

The rows in the lake stay.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from lake.clients.connect import Connect
from lake.config.definition import Database, Table
from lake.config.environment import Environment
from lake.config.errors import LakeError, in_the_middle
from lake.config.names import source_name
from lake.config.report import Report
from lake.config.waiting import wait_until
from lake.plan.refusals import Refused
from lake.sources.change import Change
from lake.sources.engines import engine_of
from lake.state import applied, dropped

WITHIN_S = 60.0
STAYS = "its rows stay in the lake, and its topics in Kafka"


@dataclass(frozen=True)
class Leaving:
    """databases: those without a definition. tables: of databases that are defined, those that are not."""

    databases: list[Database]
    tables: list[Database]

    @property
    def names(self) -> Refused:
        """The tables, which stay as they are until it is confirmed."""
        every = [*self.databases, *self.tables]
        return frozenset((one.database, table) for one in every for table in one.by_name)

    def joined(self, defined: Iterable[Database]) -> list[Database]:
        """The definition as if nothing had left."""
        back = {one.database: one.by_name for one in self.tables}
        kept = [_with(one, {**one.by_name, **back.get(one.database, {})}) for one in defined]
        return sorted([*kept, *self.databases], key=lambda one: one.database)

    def gone_from(self, before: Iterable[Database]) -> list[Database]:
        """What is captured once they are taken out."""
        kept = [
            _with(one, {name: table for name, table in one.by_name.items() if (one.database, name) not in self.names})
            for one in before
        ]
        return [one for one in kept if one.by_name]

    @property
    def changes(self) -> list[Change]:
        whole = [
            Change("leave", one.database, one.connector, "take out", f"databases/{one.database}.yaml is away: {STAYS}")
            for one in self.databases
        ]
        return whole + [
            Change("leave", one.database, table, "take out", f"databases/{one.database}.yaml names it no more: {STAYS}")
            for one in self.tables
            for table in one.by_name
        ]


def leaving(home: Environment, defined: list[Database]) -> Leaving:
    """What an earlier apply captured and the definition has no more."""
    now, before = {one.database: one for one in defined}, applied.load(home)
    tables = [_with(one, _missing(one, now[name])) for name, one in before.items() if name in now]
    return Leaving([one for name, one in before.items() if name not in now], [one for one in tables if one.by_name])


def captured(databases: Iterable[Database], pipeline: dict[str, Any]) -> list[Database]:
    """The databases with those of their tables that the pipeline file has."""
    there = {(one["database"], source_name(one)) for one in pipeline.get("tables", [])}
    kept = [
        _with(one, {name: one.by_name[name] for name in one.by_name if (one.database, name) in there})
        for one in databases
    ]
    return [one for one in kept if one.by_name]


def take_out(home: Environment, left: Leaving, report: Report) -> None:
    """Connector, slot, publication, grants and tables of the lake; the identities are as before the capture."""
    with in_the_middle("lake apply --yes"):
        for one in left.databases:
            report(f"take out: {one.database}")
            _end_capture(home, one)
            _clean(home, one, whole=True)
        for one in left.tables:
            report(f"take out: {', '.join(one.by_name)} of {one.database}")
            _clean(home, one, whole=False)


def _missing(before: Database, now: Database) -> dict[str, Table]:
    return {name: table for name, table in before.by_name.items() if name not in now.by_name}


def _with(database: Database, tables: dict[str, Table]) -> Database:
    return database.model_copy(update={"by_name": tables})


def _end_capture(home: Environment, database: Database) -> None:
    """Without its offsets the connector begins from the start, should the database come back."""
    connect, name = Connect(home), database.connector
    if connect.config(name) is not None:
        connect.tell(name, "stop")
        _until(lambda: connect.forget(name), f"connector {name} does not stop")
        connect.delete(name)
    if _is_there(home, database):
        _until(lambda: engine_of(database).capture.reset(home, database), "its slot is still read")
    dropped.forget(home, database.database)


def _is_there(home: Environment, database: Database) -> bool:
    leaving = engine_of(database).leaving
    return leaving is None or leaving.is_there(home, database)


def _clean(home: Environment, database: Database, whole: bool) -> None:
    engine = engine_of(database)
    if engine.leaving and engine.leaving.is_there(home, database):
        statements = engine.leaving.statements(home, database, whole)
        cleaning = [Change("source", database.database, "", "clean", statement) for statement in statements]
        engine.preparation.execute(home, database, cleaning)


def _until(is_so: Callable[[], bool], otherwise: str) -> None:
    wait_until(is_so, WITHIN_S, LakeError(f"{otherwise} after {WITHIN_S:.0f} s", "lake apply", "run it again"))
