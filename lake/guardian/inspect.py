"""One look at one source: all facts, judged."""

from dataclasses import dataclass
from typing import Any

from lake.clients.connect import Connect
from lake.config.definition import Database
from lake.config.home import Home
from lake.rendering.pipeline import read_pipeline
from lake.sources.drift import Drift
from lake.sources.postgres import facts, rules
from lake.sources.postgres.catalog import connect_source, read_source
from lake.sources.postgres.facts import Slot, TableFacts
from lake.state import baseline
from lake.state.baseline import Accepted

POSITIONS = ("lsn", "lsn_commit", "lsn_proc")


@dataclass(frozen=True)
class Look:
    """What was found; there is what accept() may note as being in order, known what was known of it until then.

    position: of the connector in the log, in bytes, as Kafka acknowledged it; 0 before its first record.
    """

    database: Database
    there: Accepted
    known: Accepted
    slot: Slot | None
    position: int
    drifts: list[Drift]


def look(home: Home, database: Database) -> Look:
    """BadInput when PostgreSQL or Connect does not answer.

    The slot is read before the connector's position: it never confirms what Kafka has not acknowledged, so a slot that
    is ahead of a position read later is not the one that the connector left. The server is read after it: its log is
    always ahead of what was taken from it, and grows meanwhile.
    """
    pipeline = read_pipeline(home.environment)
    applied = applied_tables(database, pipeline)
    database = captured(database, pipeline)
    names = [table.full_name for table in database.tables]
    connect = Connect(home.connect)
    with connect_source(home.environment, database.database) as connection:
        slot = facts.read_slot(connection, database.slot)
        position, settings = position_of(connect.offset(database.connector)), connect.running()
        server = facts.read_server(connection)
        tables = facts.read_tables(connection, database.publication, names)
    source = read_source(home.environment, database)
    there = Accepted(server, tables)
    unread = {name: one for name, one in baseline.noted(home, database.database).items() if name in tables}
    known = (baseline.load(home, database.database) or Accepted(server, {})).with_new({**tables, **unread})
    known = known.left(list(applied)).spoiled(_spoiled(database, known, tables, applied)) if pipeline else known
    known = known.with_columns(tables)
    baseline.save(home, database.database, known)
    drifts = [
        *rules.of_server(database, known.server, server, position),
        *rules.of_slot(database, slot, position),
        *(
            drift
            for name in names
            if name in known.tables
            for drift in rules.of_table(database, known.tables[name], tables.get(name))
        ),
        *rules.of_definition(database, source),
        *rules.of_connectors(database, settings),
        *rules.of_budget(database, slot, home.environment.wal),
    ]
    return Look(database, there, known, slot, position, drifts)


def applied_tables(database: Database, pipeline: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The entries of the pipeline file that are the database's, by "schema.table"."""
    own = (one for one in pipeline.get("tables", []) if one["database"] == database.database)
    return {f"{one['schema']}.{one['table']}": one for one in own}


def captured(database: Database, pipeline: dict[str, Any]) -> Database:
    """The database with those of its tables that `lake apply` has captured: the others can't have lost anything."""
    applied = applied_tables(database, pipeline)
    kept = {name: table for name, table in database.by_name.items() if name in applied}
    return database.model_copy(update={"by_name": kept})


def _spoiled(
    database: Database, known: Accepted, tables: dict[str, TableFacts], applied: dict[str, dict[str, Any]]
) -> dict[str, str]:
    """By table why its changes are being lost; an apply under way may make another identity than was applied."""
    asked = {
        name: {one["replica_identity"][0], database.by_name[name].replica_identity[0]}
        for name, one in applied.items()
        if name in tables
    }
    found = {
        name: rules.spoils(tables[name], identities) or rules.moved(known.tables[name], tables[name])
        for name, identities in asked.items()
    }
    return {name: why for name, why in found.items() if why}


def accept(home: Home, before: Look, names: list[str]) -> None:
    """Notes as being in order what was there before the tables were proven equal, not what was found since."""
    database = before.database.database
    known = (baseline.load(home, database) or before.known).with_new(before.known.tables)
    baseline.save(home, database, known.in_order(names, before.known, before.there.tables))


def accept_server(home: Home, found: Look) -> None:
    """Notes that capture begins anew with the server that was found."""
    database = found.database.database
    known = baseline.load(home, database) or found.there
    baseline.save(home, database, Accepted(found.there.server, known.tables))


def position_of(offset: dict[str, Any] | None) -> int:
    """The greatest place in the log, in bytes, that an offset names; 0 when there is none."""
    return max((int((offset or {}).get(name) or 0) for name in POSITIONS), default=0)
