"""Asking a connector to read tables again beside the stream."""

from lake.config.definition import load_databases
from lake.config.home import Home
from lake.sources.postgres.catalog import connect_source, read_source
from lake.sources.postgres.preconditions import refuse_source
from lake.sources.postgres.signals import ask_for_snapshot
from lake.state.resync import Ask


def refuse_sources(home: Home, names: set[str]) -> None:
    """What can't be read whole would be taken for deleted."""
    for database in load_databases(home.root):
        if database.database in names:
            refuse_source(database, read_source(home.environment, database))


def signal(home: Home) -> Ask:
    """Reads tables beside the stream, which goes on."""

    def ask(database: str, tables: list[str]) -> int:
        with connect_source(home.environment, database) as connection:
            return ask_for_snapshot(connection, tables)

    return ask
