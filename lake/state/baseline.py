"""What a source was when it was last known to be in order, kept in one file per database."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from lake.config.definition import Database
from lake.config.files import read_json, replace_json
from lake.config.home import Home
from lake.sources.engine import ServerFacts, TableFacts
from lake.sources.engines import engine_of, guard_of

Tables = Mapping[str, TableFacts]


@dataclass(frozen=True)
class Baseline:
    """The server, and the tables by name."""

    server: ServerFacts
    tables: Tables

    def with_new(self, tables: Tables) -> "Baseline":
        """The same, and the tables that it did not have."""
        return Baseline(self.server, {**tables, **self.tables})

    def with_losses(self, reasons: Mapping[str, str]) -> "Baseline":
        """The same, with why tables have lost changes: the first reason stays."""
        found = {name: self.tables[name] for name in reasons if name in self.tables}
        lost = {
            name: replace(table, loss_reason=table.loss_reason or reasons[name], loss_count=table.loss_count + 1)
            for name, table in found.items()
        }
        return Baseline(self.server, {**self.tables, **lost})

    def with_columns(self, observed: Tables) -> "Baseline":
        """The same, with the columns that are observed. One that was dropped stays until its name is given again: the
        lake keeps its values.
        """
        seen = {
            name: replace(table, columns=_columns(table, observed.get(name, table)))
            for name, table in self.tables.items()
        }
        return Baseline(self.server, seen)

    def in_order(self, names: Iterable[str], before: "Baseline", observed: Tables) -> "Baseline":
        """The same, where tables are as an inspection observed them, but for what was found after it.

        before: the baseline of that inspection.
        """
        again = {
            name: _again(self.tables[name], before.tables[name], observed[name]) for name in names if name in observed
        }
        return Baseline(self.server, {**self.tables, **again})

    def with_only(self, names: Iterable[str]) -> "Baseline":
        """The same; tables that are no longer captured lose what happens until they come back."""
        return self.with_losses(dict.fromkeys(set(self.tables) - set(names), "was not captured for a while"))


def _columns(expected: TableFacts, observed: TableFacts) -> dict[str, str]:
    dropped = {number: name for number, name in expected.columns.items() if name not in observed.columns.values()}
    return {**dropped, **observed.columns} if expected.relation == observed.relation else observed.columns


def _again(expected: TableFacts, before: TableFacts, observed: TableFacts) -> TableFacts:
    reason = expected.loss_reason if expected.loss_count != before.loss_count else ""
    return replace(observed, columns=expected.columns, loss_reason=reason, loss_count=expected.loss_count)


def load(home: Home, database: Database) -> Baseline | None:
    """None before there is one."""
    content = read_json(_path(home, database.database))
    if content is None:
        return None
    server = guard_of(database).server(**content["server"])
    return Baseline(server, _by_name(database, content["tables"]))


def save(home: Home, database: Database, baseline: Baseline) -> None:
    if load(home, database) != baseline:
        content = {"server": asdict(baseline.server), "tables": _listed(baseline.tables)}
        replace_json(_path(home, database.database), content)


def note(home: Home, database: Database) -> None:
    """Keeps what tables are before `lake apply` has them read: what happens to them from then on is reported.

    A first inspection of what is read already would take values that came without an event for what was always there.
    """
    if engine_of(database).guard is None:
        return
    seen = guard_of(database).facts.observe(home.environment, database, lambda: 0)
    replace_json(_unread_path(home, database.database), _listed(seen.tables))


def noted(home: Home, database: Database) -> dict[str, TableFacts]:
    """By name; {} before anything was noted."""
    return _by_name(database, read_json(_unread_path(home, database.database)) or [])


def forget(home: Home, database: str) -> None:
    """A database that is captured again later is another one."""
    _path(home, database).unlink(missing_ok=True)


def databases(home: Home) -> list[str]:
    """Those that have a baseline."""
    return sorted(path.stem for path in (home.data / "guardian").glob("*.json"))


def _listed(tables: Tables) -> list[dict[str, Any]]:
    return [table.as_json() for table in tables.values()]


def _by_name(database: Database, tables: list[dict[str, Any]]) -> dict[str, TableFacts]:
    read = guard_of(database).table.from_json
    return {one["full_name"]: read(one) for one in tables}


def _path(home: Home, database: str) -> Path:
    return home.data / "guardian" / f"{database}.json"


def _unread_path(home: Home, database: str) -> Path:
    return home.data / "guardian" / "unread" / f"{database}.json"
