"""The capabilities of the toy. A table of SQLite is captured by a trigger that writes into lake_log."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

from lake.config.definition import Database
from lake.config.environment import Environment
from lake.config.errors import BadInput
from lake.sources.change import Change
from lake.sources.engine import Address, Engine, Offset, SourceFacts
from lake.sources.findings import Finding

TYPES = frozenset({"INTEGER", "TEXT"})
LOG = "CREATE TABLE lake_log (position INTEGER PRIMARY KEY, captured INTEGER)"
NO_KEYS: Mapping[str, list[str]] = {}
Columns = dict[str, dict[str, str]]  # types by column, by table


def connect(environment: Environment, database: str) -> "closing[sqlite3.Connection]":
    return closing(sqlite3.connect(environment.data / f"{database}.sqlite", isolation_level=None))


class Discovery:
    def read_source(
        self, environment: Environment, database: Database, applied: Mapping[str, list[str]] = NO_KEYS
    ) -> SourceFacts:
        with connect(environment, database.database) as connection:
            tables = {
                table.full_name: {row[1]: row[2] for row in connection.execute(f"PRAGMA table_info({table.name})")}
                for table in database.tables
            }
            found = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
        return SourceFacts(tables, [change for change in needed(database) if change.object not in found], [])


def needed(database: Database) -> Iterator[Change]:
    yield Change("source", database.database, "lake_log", "create table", LOG)
    for table in database.tables:
        insert = "INSERT INTO lake_log (captured) VALUES (NULL);"
        trigger = f"CREATE TRIGGER lake_{table.name} AFTER INSERT ON {table.name} BEGIN {insert} END"
        yield Change("source", database.database, f"lake_{table.name}", "create trigger", trigger)


class Checks:
    def findings(self, database: Database, catalog: Columns, partitions: int) -> list[Finding]:
        return [
            Finding(
                database.database,
                table,
                f"the lake can't keep {name}",
                f"databases/{database.database}.yaml, key tables.{table}",
                "leave the table out",
            )
            for table, columns in catalog.items()
            for name, kind in columns.items()
            if kind not in TYPES
        ]


class Preparation:
    def execute(self, environment: Environment, database: Database, changes: Sequence[Change]) -> None:
        with connect(environment, database.database) as connection:
            connection.executescript(";".join(["BEGIN", *(change.detail for change in changes), "COMMIT"]))


class Connector:
    def values(self, database: Database, address: Address) -> dict[str, str]:
        return {"FILE": f"{database.database}.sqlite"}

    def transport(self, database: Database) -> dict[str, str]:
        return {}

    def selector(self, table: str) -> str:
        return table

    def resolved(self, database: Database) -> dict[str, str]:
        return {}

    def hashed(self, database: Database, secret: str) -> dict[str, str]:
        return {}

    def exclusive(self, database: Database) -> dict[str, str]:
        return {"sqlite.file": f"{database.database}.sqlite"}


class Capture:
    def position(self, environment: Environment, database: Database) -> int:
        with connect(environment, database.database) as connection:
            return int(connection.execute("SELECT coalesce(max(position), 0) FROM lake_log").fetchone()[0])

    def position_text(self, position: int) -> str:
        return f"#{position}"

    def is_captured(self, environment: Environment, database: Database, position: int) -> bool:
        query = "SELECT count(*) FROM lake_log WHERE captured IS NULL AND position < ?"
        with connect(environment, database.database) as connection:
            return connection.execute(query, [position]).fetchone() == (0,)

    def reader(self, environment: Environment, database: Database) -> int | None:
        return None

    def status(self, environment: Environment, database: Database) -> tuple[str, int | None]:
        return "inactive", None

    def request_snapshot(self, environment: Environment, database: Database, tables: list[str]) -> int:
        raise BadInput("the toy reads no table again", database.database, "begin anew")

    def changes_ahead(self, environment: Environment, database: Database) -> dict[str, int] | None:
        return None

    def reset(self, environment: Environment, database: Database) -> bool:
        return True

    def objects(self, database: Database) -> list[str]:
        return ["table lake_log"]

    def acknowledged(self, offset: Offset | None) -> int:
        return int((offset or {}).get("position", 0))

    def streamed(self, offset: Offset) -> int:
        return self.acknowledged(offset)


TOY = Engine("toy", Discovery(), Checks(), Preparation(), Connector(), Capture(), TYPES)
