"""What no capture takes, and why: relations beside the tables."""

from random import Random

from tests.random_databases.names import Names
from tests.random_databases.quoting import full_name, name
from tests.random_databases.tables import Table

KINDS = ("view", "materialized view", "foreign", "unlogged", "row-level security")


def some(chooser: Random, names: Names, tables: list[Table]) -> tuple[dict[str, str], list[str]]:
    """Seldom one: its full name with its kind, and the DDL."""
    if chooser.random() > 0.35:
        return {}, []
    kind, bare, behind = chooser.choice(KINDS), names.next(), chooser.choice(tables)
    return {full_name(behind.schema, bare): kind}, _ddl(kind, f"{name(behind.schema)}.{name(bare)}", behind)


def _ddl(kind: str, full: str, behind: Table) -> list[str]:
    columns = f"{full} (id integer PRIMARY KEY, v text)"
    return {
        "view": [f"CREATE VIEW {full} AS SELECT count(*) AS rows FROM {behind.sql}"],
        "materialized view": [f"CREATE MATERIALIZED VIEW {full} AS SELECT count(*) AS rows FROM {behind.sql}"],
        "foreign": [
            "CREATE FOREIGN DATA WRAPPER nothing",
            "CREATE SERVER elsewhere FOREIGN DATA WRAPPER nothing",
            f"CREATE FOREIGN TABLE {full} (id integer) SERVER elsewhere",
        ],
        "unlogged": [f"CREATE UNLOGGED TABLE {columns}", f"INSERT INTO {full} VALUES (1, 'x')"],
        "row-level security": [
            f"CREATE TABLE {columns}",
            f"ALTER TABLE {full} ENABLE ROW LEVEL SECURITY",
            f"INSERT INTO {full} VALUES (1, 'x')",
        ],
    }[kind]
