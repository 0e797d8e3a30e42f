"""What capture needs of a source database and does not find."""

from collections.abc import Iterator

from lake.config.definition import HEARTBEAT, SIGNAL, Database
from lake.rendering.connector import CAPTURE_USER
from lake.sources.change import Change
from lake.sources.postgres import publication
from lake.sources.postgres.catalog import Source


def source_changes(database: Database, source: Source) -> Iterator[Change]:
    """What capture needs of the source and does not find: the first changes of a plan."""
    yield from _schema_changes(database, source)
    yield from _identity_changes(database, source)
    yield from _publication_changes(database, source)
    yield from _right_changes(database, source)


def _schema_changes(database: Database, source: Source) -> Iterator[Change]:
    if "lake" not in source.existing:
        yield _sql(database, "lake", "create schema", publication.create_schema())
    for name, create in publication.LAKE_TABLES.items():
        if name not in source.existing:
            yield _sql(database, name, "create table", create())


def _identity_changes(database: Database, source: Source) -> Iterator[Change]:
    for table in database.tables:
        for leaf, identity in sorted(source.tables[table.full_name].leaves.items()):
            if identity != table.replica_identity[0]:
                statement = publication.set_replica_identity(leaf, table.replica_identity)
                yield _sql(database, leaf, f"replica identity {table.replica_identity}", statement)


def _publication_changes(database: Database, source: Source) -> Iterator[Change]:
    name, names = database.publication, [table.full_name for table in database.tables]
    found = source.publication
    if found is None:
        yield _sql(database, name, "create publication", publication.create_publication(name, names))
        return
    if not found.as_wanted:
        yield _sql(database, name, "set publication options", publication.set_publication_options(name))
    for table in sorted(found.narrowed.intersection([*names, HEARTBEAT, SIGNAL])):
        action = f"drop {table}, of which it tells a part only"
        yield _sql(database, name, action, publication.drop_from_publication(name, table))
    for table in [*names, HEARTBEAT, SIGNAL]:
        if table not in found.members - found.narrowed:
            yield _sql(database, name, f"add {table}", publication.add_to_publication(name, table))


def _right_changes(database: Database, source: Source) -> Iterator[Change]:
    for schema in sorted(source.schemas_without_usage):
        yield _sql(database, schema, f"grant to {CAPTURE_USER}", publication.grant_usage(schema, CAPTURE_USER))
    for table in publication.required_rights(table.full_name for table in database.tables):
        if missing := source.missing_rights.get(table):
            statement = publication.grant(missing, table, CAPTURE_USER)
            yield _sql(database, table, f"grant to {CAPTURE_USER}", statement)


def departures(database: Database, source: Source) -> Iterator[Change]:
    kept = {HEARTBEAT, SIGNAL, *(table.full_name for table in database.tables)}
    members = source.publication.members if source.publication else frozenset()
    for table in sorted(members - kept):
        action = f"drop {table} (its topic and its lake tables are kept)"
        yield _sql(
            database,
            database.publication,
            action,
            publication.drop_from_publication(database.publication, table),
        )


def _sql(database: Database, object_: str, action: str, statement: str) -> Change:
    return Change("source", database.database, object_, action, statement)
