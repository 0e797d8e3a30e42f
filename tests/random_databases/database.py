"""A random database: the same seed makes the same SQL."""

from dataclasses import dataclass
from random import Random

import psycopg

from tests.random_databases import changes, obstacles, settings
from tests.random_databases.migrations import Migrations
from tests.random_databases.names import Names
from tests.random_databases.own_types import ADDRESS, SHADOWS, OwnTypes
from tests.random_databases.quoting import name, value
from tests.random_databases.shapes import Shapes
from tests.random_databases.tables import Table

STEPS = 3
Transactions = list[str]


@dataclass(frozen=True)
class RandomDatabase:
    """first: its DDL and its first rows. steps: what happens while it is captured.

    tables: as they are at the end. obstacles: the relations that no capture takes, with their kind. shapes: of each
    table by the name that it has when the capture begins.
    """

    seed: int
    name: str
    first: Transactions
    steps: list[Transactions]
    tables: list[Table]
    shapes: dict[str, str]
    obstacles: dict[str, str]
    settings: dict[str, str]

    def create(self, dsn: str) -> None:
        """dsn: of a database of the server."""
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name(self.name)}".encode())
            for setting, to in self.settings.items():
                connection.execute(f"ALTER DATABASE {name(self.name)} SET {setting} = {value(to)}".encode())


def run(dsn: str, transactions: Transactions) -> None:
    """What an application sends, which does not depend on the settings of the database."""
    with psycopg.connect(dsn, autocommit=True, options=settings.WRITER) as connection:
        for transaction in transactions:
            connection.execute(transaction.encode())


def random_database(seed: int) -> RandomDatabase:
    chooser = Random(seed)
    names, own, found = Names(chooser), OwnTypes(chooser), f"random_{seed}"
    schemas = ["public", *(names.next() for _ in range(chooser.choice([0, 0, 1, 1, 2])))]
    tables = _tables(Shapes(chooser, names, schemas, own.kinds), chooser.randint(2, 4))
    beside, more = obstacles.some(chooser, names, tables)
    ddl = [*own.ddl, *(f"CREATE SCHEMA {name(schema)}" for schema in schemas[1:])]
    ddl += [statement for table in tables for statement in table.ddl] + more
    rows = [changes.insert(chooser, table, chooser.randint(3, 12)) for table in tables if chooser.random() < 0.9]
    shapes = {table.full_name: _shape(table) for table in tables}
    migrations = Migrations(chooser, names, tables, own.kinds)
    steps = [_step(chooser, tables, migrations) for _ in range(STEPS)]
    return RandomDatabase(seed, found, [*ddl, *rows], steps, tables, shapes, beside, settings.some(chooser))


def _tables(shapes: Shapes, number: int) -> list[Table]:
    made: list[Table] = []
    while len(made) < number:
        made += shapes.some()
    return made


def _shape(table: Table) -> str:
    """The reason for which it may be refused comes first; a composite type may stand in a key."""
    types = {column.kind.type.removesuffix("[]") for column in table.columns}
    return "shadowed type" if types & SHADOWS else "composite type" if ADDRESS in types else table.shape


def _step(chooser: Random, tables: list[Table], migrations: Migrations) -> Transactions:
    """Changes, then at most two migrations, then changes again."""
    before = _changes(chooser, tables)
    migrated = [statement for _ in range(chooser.choice([0, 1, 1, 2])) for statement in migrations.some()]
    return [*before, *migrated, *_changes(chooser, tables)]


def _changes(chooser: Random, tables: list[Table]) -> Transactions:
    return [changes.some(chooser, chooser.choice(tables)) for _ in range(chooser.randint(3, 8))]
