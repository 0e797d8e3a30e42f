"""The names of the objects that the lake creates in a PostgreSQL database."""

from lake.config.definition import Database
from lake.config.naming import capture_name


def publication(database: Database) -> str:
    return capture_name(database.database)


def slot(database: Database) -> str:
    return capture_name(database.database)
