"""All facts that a plan compares the definition with, read once."""

from dataclasses import dataclass
from typing import Any

from lake.clients.connect import Connect
from lake.clients.kafka import Broker
from lake.config.definition import Database
from lake.config.environment import Environment
from lake.rendering.pipeline import read_pipeline
from lake.rendering.topics import Topic, topics
from lake.sources.engine import SourceFacts
from lake.sources.engines import engine_of

TableId = tuple[str, str, str]


@dataclass(frozen=True)
class Facts:
    """sources and connectors by database (None: no connector yet), topics by name, the pipeline file."""

    sources: dict[str, SourceFacts]
    wanted_topics: list[Topic]
    topics: dict[str, Topic]
    connectors: dict[str, dict[str, str] | None]
    pipeline: dict[str, Any]

    @property
    def applied(self) -> dict[TableId, dict[str, Any]]:
        """The tables of the pipeline file, by database, schema and name."""
        tables = self.pipeline.get("tables", [])
        return {(table["database"], table["schema"], table["table"]): table for table in tables}


def read_facts(databases: list[Database], environment: Environment) -> Facts:
    """The facts of all databases; BadInput names the first service that does not answer."""
    wanted = [topic for database in databases for topic in topics(database, environment)]
    connect = Connect(environment)
    return Facts(
        sources={one.database: engine_of(one).discovery.read_source(environment, one) for one in databases},
        wanted_topics=wanted,
        topics=Broker(environment.kafka_bootstrap).topics(wanted),
        connectors={database.database: connect.config(database.connector) for database in databases},
        pipeline=read_pipeline(environment),
    )
