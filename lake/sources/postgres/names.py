"""The names of the objects that the lake creates in a PostgreSQL database."""

from lake.config.definition import Database


def publication(database: Database) -> str:
    return f"lake_{database.database}"


def slot(database: Database) -> str:
    return f"lake_{database.database}"
