"""All source engines. A new engine is a folder next to this file, and a line here."""

from lake.config.definition import Database
from lake.config.errors import BadInput
from lake.config.names import refuse_unknown
from lake.sources.engine import Engine, Guard
from lake.sources.postgres.engine import POSTGRES

ENGINES = {engine.name: engine for engine in (POSTGRES,)}


def engine_of(database: Database) -> Engine:
    """BadInput for an engine that is not known."""
    return engine_named(database.engine, f"databases/{database.database}.yaml, key engine")


def engine_named(name: str, where: str) -> Engine:
    refuse_unknown("source engine", [name], sorted(ENGINES), where)
    return ENGINES[name]


def guard_of(database: Database) -> Guard:
    """BadInput for an engine that the guardian cannot inspect."""
    engine = engine_of(database)
    if engine.guard is None:
        where = f"databases/{database.database}.yaml, key engine"
        raise BadInput(f"the guardian cannot inspect sources of engine '{engine.name}'", where, "use lake resnapshot")
    return engine.guard
