"""PostgreSQL's part of the connector template."""

from collections.abc import Iterable

from lake.config.definition import Database, Table
from lake.rendering import columns
from lake.sources.engine import Address
from lake.sources.postgres import names, relations, session
from lake.sources.postgres.roles import CAPTURE

HASHER = "lake.connect.HashedColumns"
NO_TOPIC = "(?!)"  # a pattern that nothing matches


def values(database: Database, address: Address) -> dict[str, str]:
    return {
        "DB_HOST": address.host,
        "DB_PORT": str(address.port),
        "DATABASE": database.database,
        "CAPTURE_USER": CAPTURE,
        "CAPTURE_PASSWORD": address.password,
        "PUBLICATION": names.publication(database),
        "SLOT": names.slot(database),
        "SESSION": session.READER,
        "FIRST_STATEMENT": session.NO_TIMEOUT,
        "KEY_ONLY_TOPICS": key_only_topics(database),
        "APPEND_TOPICS": _topics(database, [table for table in database.tables if table.without_key == "append"]),
        "MULTISET_TOPICS": _topics(database, [table for table in database.tables if table.without_key == "multiset"]),
    }


def transport(database: Database) -> dict[str, str]:
    """The same checks of the server as by our own connections."""
    return {f"database.{key}": setting for key, setting in database.source.tls.items()} if database.source else {}


def selector(table: str) -> str:
    return relations.selector(table)


def resolved(database: Database) -> dict[str, str]:
    """Generated columns, which Debezium leaves out of incremental snapshots alone, are left out of the stream, too, and
    so are those that the definition drops. A key that is not the primary key is named, and so are arrays of several
    dimensions. These are lists of patterns.
    """
    left_out = [one for table in database.tables for one in _left_out(database, table)]
    keys = [
        f"{relations.pattern(table.full_name)}:{','.join(table.message_key)}"
        for table in database.tables
        if table.message_key
    ]
    texts = [relations.pattern(table.full_name, column) for table in database.tables for column in table.as_text]
    exact = any(table.without_key for table in database.tables)  # ADR 48
    found = {
        "column.exclude.list": ",".join(left_out),
        "message.key.columns": ";".join(keys),
        "exact.texts": ",".join(texts),
        "snapshot.mode.custom.exact": "true" if exact else "",
    }
    return {name: text for name, text in found.items() if text}


def _left_out(database: Database, table: Table) -> list[str]:
    """Patterns of columns. Where some must not get out, of all that are not known to be allowed to."""
    if table.is_masked:
        return [relations.all_but(table.full_name, columns.sent(database, table))]
    return [relations.pattern(table.full_name, column) for column in table.left_out]


def hashed(database: Database, secret: str) -> dict[str, str]:
    """Our converter comes before the one of the template: of several that take a column Debezium uses the first."""
    wanted = [relations.pattern(table.full_name, column) for table in database.tables for column in table.hashed]
    if not wanted:
        return {}
    own = {"type": HASHER, "columns": ",".join(wanted), "secret": secret}
    return {"converters": "hashed,exact", **{f"hashed.{key}": text for key, text in own.items()}}


def exclusive(database: Database) -> dict[str, str]:
    return {"slot.name": names.slot(database)}


def key_only_topics(database: Database) -> str:
    """A pattern of the topics whose messages may have missing values: tables without REPLICA IDENTITY FULL."""
    return _topics(database, [table for table in database.tables if table.replica_identity != "full"])


def _topics(database: Database, tables: Iterable[Table]) -> str:
    """A pattern of the topics of these tables."""
    return "|".join(table.topic(database.database).replace(".", "[.]") for table in tables) or NO_TOPIC
