"""Rules for a definition, given the catalog of its PostgreSQL database: pure functions that find what breaks them."""

from collections import Counter
from collections.abc import Iterator
from itertools import chain

from lake.config.declared_schema import columns_of
from lake.config.definition import Database, Table
from lake.config.identifiers import TABLE_NAME
from lake.config.naming import is_added_column, stored_columns
from lake.sources.findings import Finding
from lake.sources.postgres.catalog import ORDINARY_KINDS, Catalog, SourceTable
from lake.sources.postgres.roles import CAPTURE

# Hudi, Spark and the metastore must get the value back from the folder's name; these types are tested.
PARTITION_TYPES = (
    "text",
    "character varying",
    "character",
    "uuid",
    "enum",
    "smallint",
    "integer",
    "bigint",
    "date",
    "boolean",
)


# The rule is broken, what is wrong, the key below the table's, and what to do now.
Rule = tuple[object, str, str, str]
LEAVE_OUT = "or leave the table out"


def findings(database: Database, catalog: Catalog, partitions: int) -> list[Finding]:
    """All that the definition does not fit. partitions: of each topic, where a table names none."""
    name = database.database
    server = _broken(name, "", f"PostgreSQL database {name}", _of_server(catalog))
    tables = (of_table(database, table, catalog.tables.get(table.full_name), partitions) for table in database.tables)
    return [*server, *chain.from_iterable(tables)]


def of_table(database: Database, table: Table, found: SourceTable | None, partitions: int) -> list[Finding]:
    """All that keeps one table from being captured with these settings; found: None if PostgreSQL has no such table."""
    where = f"databases/{database.database}.yaml, key tables.{table.full_name}"
    rules = _no_table(table) if found is None else _rules(database, table, found, table.partitions(partitions))
    return list(_broken(database.database, table.full_name, where, rules))


def _broken(database: str, table: str, where: str, rules: Iterator[Rule]) -> Iterator[Finding]:
    for is_broken, what, key, now in rules:
        if is_broken:
            yield Finding(database, table, what, where + key, now)


def _rules(database: Database, table: Table, found: SourceTable, partitions: int) -> Iterator[Rule]:
    if found.kind not in ORDINARY_KINDS:
        yield True, f"{found.full_name} is not a table", "", "capture the tables behind it"
        return
    yield from _of_table(table, found)
    yield from _of_columns(table, found)
    yield from _of_declared(database, table, found)
    yield from _of_names(table, found)
    yield from _of_large_values(table, found, partitions)


def _no_table(table: Table) -> Iterator[Rule]:
    yield True, f"PostgreSQL has no table {table.full_name}", "", "create it, or correct the name"


def _of_server(catalog: Catalog) -> Iterator[Rule]:
    now = "ALTER SYSTEM SET wal_level = logical and restart it (Amazon RDS: rds.logical_replication = 1)"
    yield catalog.wal_level != "logical", f"wal_level is '{catalog.wal_level}', capture needs 'logical'", "", now
    for role in catalog.missing_roles:
        yield True, f"there is no role {role}", "", "run: lake up, which creates it"
    now = f"ALTER ROLE {CAPTURE} REPLICATION (Amazon RDS: GRANT rds_replication), and GRANT CONNECT to it"
    yield not catalog.may_replicate, f"role {CAPTURE} may not replicate the database", "", now


def _of_table(table: Table, found: SourceTable) -> Iterator[Rule]:
    name, key = found.full_name, ", ".join(found.key)
    unlogged = f"{name} is not in the write-ahead log (unlogged or temporary)"
    yield found.persistence != "p", unlogged, "", "ALTER TABLE ... SET LOGGED, or leave it out"
    now = f"ALTER TABLE {name} ADD PRIMARY KEY (...), {LEAVE_OUT}"
    yield not found.key, f"{name} has no primary key", "", now
    other = f"the primary key of {name} is ({key}), not ({', '.join(table.key)})"
    yield found.key and list(table.key) != found.key, other, ".key", f"write key: [{key}]"
    now = f"ALTER ROLE ... BYPASSRLS for {' and '.join(found.hidden_from)}, {LEAVE_OUT}"
    # The application comes first: PostgreSQL would refuse its statements, not ours.
    harmed = (
        f"updates and deletes of {name} would fail once it is captured: it has no replica identity that can be used"
    )
    now_full = f"use replica_identity: full, or make its primary key not deferrable, {LEAVE_OUT}"
    yield found.harmed, harmed, ".replica_identity", now_full
    # A query of it reads their rows, too, and a publication sends none of their changes under its name.
    heirs = f"tables inherit from {name}, and their rows look like its own: {', '.join(found.heirs)}"
    yield found.heirs, heirs, "", f"capture these instead, {LEAVE_OUT}"
    yield found.hidden_from, f"row-level security may hide rows of {name} from the lake", "", now


def _of_columns(table: Table, found: SourceTable) -> Iterator[Rule]:
    name = found.full_name
    columns = [one for one in table.partition if one != TABLE_NAME]
    now = f"choose one of {', '.join(found.columns)}"
    for partition in columns:
        yield partition not in found.columns, f"{name} has no column '{partition}'", ".partition", now
    for column in table.bronze.columns:
        yield column not in found.columns, f"{name} has no column '{column}'", ".bronze.by", now
    # They are in the snapshot and not in the stream: Debezium 3.7 then ends the snapshot (seen).
    now = "leave the table out, or make them ordinary columns kept by a trigger"
    yield found.generated, f"{name} has generated columns: {', '.join(found.generated)}", "", now
    # Debezium looks types up by their names alone, and the connector of all tables fails.
    shadowed = f"{name} has columns of types that bear the name of one of PostgreSQL's own: {', '.join(found.shadowed)}"
    yield found.shadowed, shadowed, "", f"ALTER TYPE or ALTER DOMAIN ... RENAME TO another name, {LEAVE_OUT}"
    unmapped = f"{name} has columns of types that the lake can't keep: {', '.join(found.unmapped)}"
    now = f"change the type (text holds anything), {LEAVE_OUT}; docs/types.md lists what the lake keeps"
    yield found.unmapped, unmapped, "", now
    now = f"choose a column of {', '.join(PARTITION_TYPES)}, or leave partition out"
    for partition in columns:
        kind = found.types.get(partition, "text")
        no_folder = f"column {partition} is {kind}, which cannot name a folder"
        yield kind not in PARTITION_TYPES, no_folder, ".partition", now


def _of_declared(database: Database, table: Table, found: SourceTable) -> Iterator[Rule]:
    """The declared schema is all that a reader of JSON knows of a table."""
    stored = list(stored_columns(found.columns, found.key).values())
    declared = columns_of(table.avsc) if table.avsc else stored
    for column in declared:
        known = column in stored or is_added_column(column)
        now = f"take it out of the file; the columns are {', '.join(stored)}"
        yield not known, f"{found.full_name} has no column '{column}'", ".avsc", now
    for column in stored if database.format == "json" else ():
        what = f"the declared schema has no field '{column}', which is a column of {found.full_name}"
        yield column not in declared, what, ".avsc", "add it to the file: what is not declared is not read"


def _of_names(table: Table, found: SourceTable) -> Iterator[Rule]:
    stored = stored_columns(found.columns, found.key)
    for key, columns, rendered in (
        (".partition", table.partition, table.stored_partition),
        (".bronze.by", table.bronze.columns, table.stored_bronze),
    ):
        for column, name in zip(columns, rendered, strict=True):
            meets = stored.get(column, name) != name
            yield meets, f"the lake's name of column '{column}' is that of another column", key, "choose another column"
    for name, count in Counter(column.lower() for column in found.columns).items():
        alike = [column for column in found.columns if column.lower() == name]
        what = f"columns {' and '.join(alike)} differ by case only: Debezium takes them for one"
        yield count > 1, what, "", f"rename one of them in PostgreSQL, {LEAVE_OUT}"


def _of_large_values(table: Table, found: SourceTable, partitions: int) -> Iterator[Rule]:
    """Under identity default a large value that did not change is taken from the stored row (ADR 18)."""
    large, is_default = ", ".join(found.toastable), table.replica_identity == "default" and bool(found.toastable)
    if is_default:
        left_out = f"a change does not contain an unchanged large value of {large}"
        aside = f"{left_out}, and a message that was set aside may contain it"
        now = "use on_bad_message: stop, or replica_identity: full"
        yield table.on_bad_message == "quarantine", aside, ".on_bad_message", now
        hard = f"{left_out}, and a hard delete leaves no row to take it from"
        yield table.delete == "hard", hard, ".delete", "use delete: soft, or replica_identity: full"
        unmarked = f"Debezium can't say that a large value of {', '.join(found.unmarked)} did not change"
        yield found.unmarked, unmarked, ".replica_identity", "use full, or make them text"
        # Delete and create of a changed key must be in one partition, in their order.
        order = f"{large} of {table.full_name} may be large: values are taken over in the order of one partition only"
        now = "use full, or topic_partitions: 1"
        yield partitions > 1, order, ".replica_identity", now
