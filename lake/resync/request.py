"""Requests to a connector to read tables again while the stream continues."""

from typing import Any

from lake.config.definition import load_databases
from lake.config.environment import Environment
from lake.config.errors import BadInput
from lake.config.names import command_line, source_name
from lake.sources.engines import engine_of
from lake.sources.findings import refuse
from lake.state.resync import Request


def check_sources(home: Environment, names: set[str]) -> None:
    """BadInput if a table cannot be read completely: missing rows would count as deleted."""
    for database in load_databases(home.root):
        if database.database in names:
            engine = engine_of(database)
            catalog = engine.discovery.read_source(home, database).catalog
            refuse(engine.checks.findings(database, catalog, home.kafka.partitions))


def refuse_without_key(tables: list[dict[str, Any]]) -> None:
    """BadInput for a table whose rows have no key: the stream would send some of them a second time (ADR 48)."""
    for table in tables:
        if table.get("without_key"):
            name = f"{table['database']}.{source_name(table)}"
            now = f"run: {command_line('recover', table['database'], '--new-slot')}, or name the other tables"
            raise BadInput(
                f"{name} has no key, so it is read with all tables of its database only", "command line", now
            )


def snapshot_request(home: Environment) -> Request:
    """A function that requests the rows of tables while the stream continues."""
    by_name = {one.database: one for one in load_databases(home.root)}
    return lambda name, tables: engine_of(by_name[name]).capture.request_snapshot(home, by_name[name], tables)
