"""What was there when a source was last known to be in order, kept in one file per database."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from lake.config.definition import Database
from lake.config.home import Home
from lake.config.secrets import write_private
from lake.sources.postgres.catalog import connect_source
from lake.sources.postgres.facts import Server, TableFacts, read_tables


@dataclass(frozen=True)
class Accepted:
    """The server, and the tables by name."""

    server: Server
    tables: dict[str, TableFacts]

    def with_new(self, tables: dict[str, TableFacts]) -> "Accepted":
        """The same, and the tables that were not known."""
        return Accepted(self.server, {**tables, **self.tables})

    def spoiled(self, reasons: Mapping[str, str]) -> "Accepted":
        """The same, with why tables have lost changes: the first reason stays."""
        found = {name: self.tables[name] for name in reasons if name in self.tables}
        told = {
            name: replace(table, spoiled=table.spoiled or reasons[name], spoils=table.spoils + 1)
            for name, table in found.items()
        }
        return Accepted(self.server, {**self.tables, **told})

    def with_columns(self, tables: dict[str, TableFacts]) -> "Accepted":
        """The same, with the columns that are there now. One that was dropped is known until its name is given again:
        the lake keeps its values.
        """
        seen = {
            name: replace(table, columns=_columns(table, tables.get(name, table)))
            for name, table in self.tables.items()
        }
        return Accepted(self.server, seen)

    def in_order(self, names: list[str], before: "Accepted", there: dict[str, TableFacts]) -> "Accepted":
        """The same, where tables are as they were there at a look, but for what was found after it.

        before: what was known at that look.
        """
        again = {name: _again(self.tables[name], before.tables[name], there[name]) for name in names if name in there}
        return Accepted(self.server, {**self.tables, **again})

    def left(self, names: list[str]) -> "Accepted":
        """The same; tables that are not among the captured ones by now lack what happens until they come back."""
        return self.spoiled(dict.fromkeys(set(self.tables) - set(names), "was not captured for a while"))


def _columns(known: TableFacts, now: TableFacts) -> dict[str, str]:
    dropped = {number: name for number, name in known.columns.items() if name not in now.columns.values()}
    return {**dropped, **now.columns} if known.relation == now.relation else now.columns


def _again(known: TableFacts, before: TableFacts, there: TableFacts) -> TableFacts:
    spoiled = known.spoiled if known.spoils != before.spoils else ""
    return replace(there, columns=known.columns, spoiled=spoiled, spoils=known.spoils)


def load(home: Home, database: str) -> Accepted | None:
    """None before anything was accepted."""
    content = _read(_path(home, database))
    return None if content is None else Accepted(Server(**content["server"]), _by_name(content["tables"]))


def save(home: Home, database: str, accepted: Accepted) -> None:
    content = {"server": asdict(accepted.server), "tables": [table.as_json() for table in accepted.tables.values()]}
    if load(home, database) != accepted:
        write_private(_path(home, database), json.dumps(content, indent=2) + "\n")


def note(home: Home, database: str, tables: dict[str, TableFacts]) -> None:
    """Keeps what tables were before `lake apply` had them read."""
    content = [table.as_json() for table in tables.values()]
    write_private(_unread_path(home, database), json.dumps(content, indent=2) + "\n")


def noted(home: Home, database: str) -> dict[str, TableFacts]:
    """By name; {} before anything was noted."""
    return _by_name(_read(_unread_path(home, database)) or [])


def forget(home: Home, database: str) -> None:
    """A database that is captured again later is another one."""
    _path(home, database).unlink(missing_ok=True)


def databases(home: Home) -> list[str]:
    """Those of which anything is accepted."""
    return sorted(path.stem for path in (home.data / "guardian").glob("*.json"))


def _read(path: Path) -> Any:
    """None before it was written."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


def _by_name(tables: list[dict[str, Any]]) -> dict[str, TableFacts]:
    return {one["full_name"]: TableFacts(**one) for one in tables}


def _path(home: Home, database: str) -> Path:
    return home.data / "guardian" / f"{database}.json"


def _unread_path(home: Home, database: str) -> Path:
    return home.data / "guardian" / "unread" / f"{database}.json"


def note_unread(home: Home, database: Database) -> None:
    """Notes tables as they are before they are read for the first time: what happens to them from then on is told.

    A first look at what is read already would take the values that came without an event for what was always there.
    """
    names = [table.full_name for table in database.tables]
    with connect_source(home.environment, database.database) as connection:
        note(home, database.database, read_tables(connection, database.publication, names))
