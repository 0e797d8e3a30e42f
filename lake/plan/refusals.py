"""What a refusal leaves: the other tables go on, and a refused table that is captured stays as it was applied."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from lake.config.definition import Database, Table
from lake.config.environment import Environment
from lake.config.names import source_name
from lake.plan.facts import Facts
from lake.rendering.pipeline import pipeline
from lake.sources.findings import Finding

Refused = frozenset[tuple[str, str]]  # database and "schema.table"
NOTHING: Refused = frozenset()


def refused_tables(databases: Iterable[Database], findings: Collection[Finding]) -> Refused:
    """The tables that findings name, and all tables of a database that is refused as a whole."""
    whole = {one.database for one in findings if not one.table}
    every = {(one.database, name) for one in databases if one.database in whole for name in one.by_name}
    return frozenset(every | {(one.database, one.table) for one in findings if one.table})


def accepted(databases: Iterable[Database], refused: Refused) -> list[Database]:
    """The databases with the tables that are not refused; without those that have none left."""
    kept = (
        _only(one, {name: table for name, table in one.by_name.items() if (one.database, name) not in refused})
        for one in databases
    )
    return [one for one in kept if one.tables]


def running(databases: Iterable[Database], refused: Refused, facts: Facts) -> list[Database]:
    """The databases that go on, as they run then: with refused tables that are captured already, as they are."""
    goes_on = {one.database for one in accepted(databases, refused)}
    return [
        _only(
            one,
            {
                name: _as_applied(one, table, facts) if (one.database, name) in refused else table
                for name, table in one.by_name.items()
                if (one.database, name) not in refused or _key(one, table) in facts.applied
            },
        )
        for one in databases
        if one.database in goes_on
    ]


def content(
    databases: list[Database], environment: Environment, before: dict[str, Any], refused: Refused
) -> dict[str, Any]:
    """The pipeline file: the entries of refused tables stay as the last apply wrote them."""
    wanted = pipeline(accepted(databases, refused), environment)
    held = [entry for entry in before.get("tables", []) if _name(entry) in refused]
    places = {(one.database, name): place for place, (one, name) in enumerate(_every(databases))}
    kept = {entry["database"]: before["quarantine"][entry["database"]] for entry in held}
    return {
        **wanted,
        "quarantine": {**kept, **wanted["quarantine"]},
        "tables": sorted([*wanted["tables"], *held], key=lambda entry: places[_name(entry)]),
    }


def _every(databases: list[Database]) -> list[tuple[Database, str]]:
    return [(one, name) for one in databases for name in one.by_name]


def _name(entry: dict[str, Any]) -> tuple[str, str]:
    return entry["database"], source_name(entry)


def _key(database: Database, table: Table) -> tuple[str, str, str]:
    return database.database, table.schema, table.name


def _as_applied(database: Database, table: Table, facts: Facts) -> Table:
    """Above all, no column gets out that did not before."""
    before = facts.applied[_key(database, table)]
    taken = tuple(before["taken"]) if "taken" in before else table.taken
    identity, columns = before["replica_identity"], before.get("columns", {})
    return replace(table, replica_identity=identity, columns=columns, taken=taken)


def _only(database: Database, tables: dict[str, Table]) -> Database:
    return database.model_copy(update={"by_name": tables})
