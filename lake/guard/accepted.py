"""What was there when a source was last known to be in order, kept in one file per database."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from lake.guard.facts import Server, TableFacts
from lake.local.home import Home
from lake.local.secrets import write_private


@dataclass(frozen=True)
class Accepted:
    """The server, and the tables by name."""

    server: Server
    tables: dict[str, TableFacts]

    def with_new(self, tables: dict[str, TableFacts]) -> "Accepted":
        """The same, and the tables that were not known: `lake apply` reads each of them when it joins."""
        return Accepted(self.server, {**tables, **self.tables})

    def spoiled(self, reasons: Mapping[str, str]) -> "Accepted":
        """The same, with why tables have lost changes: the first reason stays."""
        told = {name: replace(self.tables[name], spoiled=reasons[name]) for name in reasons if name in self.tables}
        first = {name: table for name, table in told.items() if not self.tables[name].spoiled}
        return Accepted(self.server, {**self.tables, **first})

    def left(self, names: list[str]) -> "Accepted":
        """The same; tables that are not among the captured ones by now lack what happens until they come back."""
        return self.spoiled(dict.fromkeys(set(self.tables) - set(names), "was not captured for a while"))


def load(home: Home, database: str) -> Accepted | None:
    """None before anything was accepted."""
    try:
        content: dict[str, Any] = json.loads(_path(home, database).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return Accepted(Server(**content["server"]), {one["full_name"]: TableFacts(**one) for one in content["tables"]})


def save(home: Home, database: str, accepted: Accepted) -> None:
    content = {"server": asdict(accepted.server), "tables": [table.as_json() for table in accepted.tables.values()]}
    if load(home, database) != accepted:
        write_private(_path(home, database), json.dumps(content, indent=2) + "\n")


def forget(home: Home, database: str) -> None:
    """A database that is captured again later is another one."""
    _path(home, database).unlink(missing_ok=True)


def databases(home: Home) -> list[str]:
    """Those of which anything is accepted."""
    return sorted(path.stem for path in (home.data / "guardian").glob("*.json"))


def _path(home: Home, database: str) -> Path:
    return home.data / "guardian" / f"{database}.json"
