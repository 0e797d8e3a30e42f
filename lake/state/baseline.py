"""The last state of a source that was known to be in order, kept in one file per database."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from lake.config.definition import Database
from lake.config.environment import Environment
from lake.config.files import read_json, replace_json
from lake.sources.engine import ServerFacts, TableFacts
from lake.sources.engines import engine_of, guard_of

Tables = Mapping[str, TableFacts]
UNREAD = "guardian/unread"
LOST = "guardian/lost"


@dataclass(frozen=True)
class Baseline:
    """The server, and the tables by name."""

    server: ServerFacts
    tables: Tables

    def with_new(self, tables: Tables) -> "Baseline":
        """A copy with the tables that it did not have."""
        return Baseline(self.server, {**tables, **self.tables})

    def with_losses(self, reasons: Mapping[str, str]) -> "Baseline":
        """A copy with the reasons why tables lost changes; a table keeps its first reason."""
        found = {name: self.tables[name] for name in reasons if name in self.tables}
        lost = {
            name: replace(table, loss_reason=table.loss_reason or reasons[name], loss_count=table.loss_count + 1)
            for name, table in found.items()
        }
        return Baseline(self.server, {**self.tables, **lost})

    def followed(self, observed: Tables, follow: Callable[[Any, Any], Any]) -> "Baseline":
        """A copy with what the next look expects. follow: rule of the engine."""
        seen = {name: follow(table, observed[name]) for name, table in self.tables.items() if name in observed}
        return Baseline(self.server, {**self.tables, **seen})

    def with_columns(self, observed: Tables) -> "Baseline":
        """A copy with the observed columns. A dropped column stays until its name is used again: the lake keeps its
        values.
        """
        seen = {
            name: replace(table, columns=_columns(table, observed.get(name, table)))
            for name, table in self.tables.items()
        }
        return Baseline(self.server, seen)

    def in_order(self, names: Iterable[str], before: "Baseline", observed: Tables) -> "Baseline":
        """A copy in which tables are as an inspection observed them, except for losses that were found later.

        before: the baseline of that inspection.
        """
        again = {
            name: _again(self.tables[name], before.tables[name], observed[name]) for name in names if name in observed
        }
        return Baseline(self.server, {**self.tables, **again})

    def with_only(self, names: Iterable[str]) -> "Baseline":
        """A copy in which all other tables lost changes: they are not captured now."""
        return self.with_losses(dict.fromkeys(set(self.tables) - set(names), "was not captured for a while"))


def _columns(expected: TableFacts, observed: TableFacts) -> dict[str, str]:
    dropped = {number: name for number, name in expected.columns.items() if name not in observed.columns.values()}
    return {**dropped, **observed.columns} if expected.relation == observed.relation else observed.columns


def _again(expected: TableFacts, before: TableFacts, observed: TableFacts) -> TableFacts:
    reason = expected.loss_reason if expected.loss_count != before.loss_count else ""
    return replace(observed, columns=expected.columns, loss_reason=reason, loss_count=expected.loss_count)


def load(home: Environment, database: Database) -> Baseline | None:
    """None before there is one."""
    content = read_json(_path(home, database.database))
    if content is None:
        return None
    server = guard_of(database).server(**content["server"])
    return Baseline(server, _by_name(database, content["tables"]))


def save(home: Environment, database: Database, baseline: Baseline) -> None:
    if load(home, database) != baseline:
        content = {"server": asdict(baseline.server), "tables": _listed(baseline.tables)}
        replace_json(_path(home, database.database), content)


def note(home: Environment, database: Database) -> None:
    """Keeps the state of tables before their first snapshot, so that later changes without events are reported.

    A first inspection after the snapshot would take such changes for the original state.
    """
    if engine_of(database).guard is None:
        return
    seen = guard_of(database).facts.observe(home, database, lambda: 0)
    replace_json(_path(home, database.database, UNREAD), _listed(seen.tables))


def noted(home: Environment, database: Database) -> dict[str, TableFacts]:
    """The noted tables by name; {} if there is no note."""
    return _by_name(database, read_json(_path(home, database.database, UNREAD)) or [])


def note_losses(home: Environment, database: str, reasons: Mapping[str, str]) -> None:
    """Keeps why tables lose changes from now on, until an inspection has it in the baseline."""
    replace_json(home.data / LOST / database / f"{time.time_ns()}.json", dict(reasons))


def noted_losses(home: Environment, database: str) -> dict[Path, dict[str, str]]:
    """The notes, oldest first; forget_notes() deletes those that the baseline has."""
    return {path: read_json(path) for path in sorted((home.data / LOST / database).glob("*.json"))}


def forget_notes(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def forget(home: Environment, database: str) -> None:
    """Deletes the baseline: a database that is captured again later starts with a new one."""
    _path(home, database).unlink(missing_ok=True)


def databases(home: Environment) -> list[str]:
    """The names of the databases that have a baseline."""
    return sorted(path.stem for path in (home.data / "guardian").glob("*.json"))


def _listed(tables: Tables) -> list[dict[str, Any]]:
    return [table.as_json() for table in tables.values()]


def _by_name(database: Database, tables: list[dict[str, Any]]) -> dict[str, TableFacts]:
    read = guard_of(database).table.from_json
    return {one["full_name"]: read(one) for one in tables}


def _path(home: Environment, database: str, folder: str = "guardian") -> Path:
    return home.data / folder / f"{database}.json"
