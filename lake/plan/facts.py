"""All facts that a plan compares the definition with, read once."""

from dataclasses import dataclass, field
from typing import Any

from lake.clients.connect import Connect, failure
from lake.clients.kafka import Broker
from lake.config.definition import Database
from lake.config.environment import Environment
from lake.config.errors import LakeError
from lake.rendering.pipeline import applied_keys, read_pipeline
from lake.rendering.topics import Topic, topics
from lake.sources.engine import SourceFacts
from lake.sources.engines import engine_of
from lake.sources.findings import Finding, unreadable

TableId = tuple[str, str, str]


@dataclass(frozen=True)
class Facts:
    """sources and connectors by database (None: no connector yet), topics by name, the pipeline file.

    unread: the databases that could not be read. failures: why connectors failed, by database.
    """

    sources: dict[str, SourceFacts]
    wanted_topics: list[Topic]
    topics: dict[str, Topic]
    connectors: dict[str, dict[str, str] | None]
    pipeline: dict[str, Any]
    unread: list[Finding] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)

    def resolved(self, databases: list[Database]) -> list[Database]:
        """The databases with what their definitions leave to the sources, as far as these could be read."""
        known = {name: source.resolved for name, source in self.sources.items()}
        return [known.get(one.database) or one for one in databases]

    @property
    def applied(self) -> dict[TableId, dict[str, Any]]:
        """The tables of the pipeline file, by database, schema and name."""
        tables = self.pipeline.get("tables", [])
        return {(table["database"], table["schema"], table["table"]): table for table in tables}


def read_facts(databases: list[Database], environment: Environment) -> Facts:
    """The facts of all databases; BadInput names the first service of the lake that does not answer."""
    wanted = [topic for database in databases for topic in topics(database, environment)]
    connect = Connect(environment)
    pipeline = read_pipeline(environment)
    sources, unread = _read_sources(databases, environment, pipeline)
    if not sources:  # nothing goes on, so no other service is asked
        return Facts({}, [], {}, {}, pipeline, unread)
    failed = {one.database: failure(connect.status(one.connector)) for one in databases}
    return Facts(
        sources=sources,
        wanted_topics=wanted,
        topics=Broker(environment.kafka_bootstrap).topics(wanted),
        connectors={database.database: connect.config(database.connector) for database in databases},
        pipeline=pipeline,
        unread=unread,
        failures={name: why for name, why in failed.items() if why},
    )


def _read_sources(
    databases: list[Database], environment: Environment, pipeline: dict[str, Any]
) -> tuple[dict[str, SourceFacts], list[Finding]]:
    """The facts of the databases that can be read; a database that can't be is refused alone."""
    found, unread = {}, []
    for one in databases:
        discovery = engine_of(one).discovery
        try:
            found[one.database] = discovery.read_source(environment, one, applied_keys(pipeline, one.database))
        except LakeError as problem:
            unread.append(unreadable(one.database, problem))
    return found, unread
