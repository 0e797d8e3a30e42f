"""What the definition says of single columns, as the connector and the jobs are told."""

from collections.abc import Iterator

from lake.config.columns import lake_names
from lake.config.definition import Database, Table
from lake.config.errors import BadInput

NAMED = "transforms.names.named"  # of lake.connect.NameColumns; then the topic and the name in the lake


def sent(database: Database, table: Table) -> tuple[str, ...]:
    """The columns that messages of a table may have, where some are left out or hashed.

    BadInput if nobody knows them: a column that was renamed would leave the source as it is.
    """
    if table.listed is None:
        where = f"databases/{database.database}.yaml, key tables.{table.full_name}.columns"
        now = 'name the columns that the lake takes (id: keep), and add "*": drop'
        raise BadInput("columns are left out or hashed, and no source is read here", where, now)
    return table.listed


def names(database: Database) -> dict[str, str]:
    """The settings of the connector for the names that the definition chooses."""
    return {
        f"{NAMED}.{table.topic(database.database)}.{stored}": column
        for table in database.tables
        for column, stored in lake_names(table.columns).items()
    }


def entry(database: Database, table: Table) -> dict[str, object]:
    """What a table's entry in the pipeline file says of its columns; nothing where the definition names none."""
    written = {name: column.as_written for name, column in table.columns.items()}
    taken = {"taken": list(sent(database, table))} if table.is_masked else {}
    return {"columns": written, **taken} if written else {}


def masks(table: Table) -> Iterator[str]:
    """For people: which columns the lake leaves out, hashes, or names otherwise."""
    for word, columns in (
        ("leaves out", [name for name, column in table.columns.items() if column.drop]),
        ("hashes", table.hashed),
        ("renames", [f"{name} to {stored}" for name, stored in lake_names(table.columns).items()]),
    ):
        if columns:
            yield f"{word} {', '.join(columns)} of {table.full_name}"
