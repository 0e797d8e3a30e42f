"""Rules for a definition, given the catalog of its PostgreSQL database: pure functions that find what breaks them."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from pydantic import ValidationError

from lake.config.columns import ALL_OTHERS, lake_names
from lake.config.declared_schema import columns_of
from lake.config.definition import Database, Table
from lake.config.identifiers import TABLE_NAME
from lake.config.naming import is_added_column, stored_columns
from lake.sources.findings import Finding
from lake.sources.postgres.catalog import (
    ORDINARY_KINDS,
    Catalog,
    Narrowed,
    SourceTable,
    is_known,
    resolved_table,
    taken,
)
from lake.sources.postgres.limit import ACCEPT_UNLIMITED, SET_LIMIT, UNLIMITED
from lake.sources.postgres.relations import signalled
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


# Of these, equal values have one text, on each road.
HASHED_TYPES = ("text", "character varying", "character", "uuid", "smallint", "integer", "bigint")

# The rule is broken, what is wrong, the key below the table's, and what to do now.
Rule = tuple[object, str, str, str]
LEAVE_OUT = "or leave the table out"
NO_TABLE = {
    "v": ("a view", "capture the tables behind it"),
    "m": ("a materialized view", "capture the tables behind it"),
    "f": ("a foreign table", "capture it where its rows are"),
    "S": ("a sequence", "leave it out"),
}


def findings(database: Database, catalog: Catalog, partitions: int) -> list[Finding]:
    """All that the definition does not fit. partitions: of each topic, where a table names none."""
    name = database.database
    server = _broken(name, "", f"PostgreSQL database {name}", chain(_of_server(catalog), _of_log(database, catalog)))
    tables = (of_table(database, table, catalog.tables.get(table.full_name), partitions) for table in database.tables)
    return [*server, *chain.from_iterable(tables)]


def of_table(database: Database, table: Table, found: SourceTable | None, partitions: int) -> list[Finding]:
    """All that keeps one table from being captured with these settings; found: None if PostgreSQL has no such table."""
    where = f"databases/{database.database}.yaml, key tables.{table.full_name}"
    wanted = resolved_table(table, found) if found else table
    rules = _no_table(table) if found is None else _rules(database, wanted, found, table.partitions(partitions))
    return list(_broken(database.database, table.full_name, where, rules))


def _broken(database: str, table: str, where: str, rules: Iterator[Rule]) -> Iterator[Finding]:
    for is_broken, what, key, now in rules:
        if is_broken:
            yield Finding(database, table, what, where + key, now)


def _rules(database: Database, table: Table, found: SourceTable, partitions: int) -> Iterator[Rule]:
    if found.kind not in ORDINARY_KINDS:
        kind, now = NO_TABLE.get(found.kind, ("not a table", "leave it out"))
        yield True, f"{found.full_name} is {kind}", "", now
        return
    yield from _of_table(table, found)
    yield from _of_family(database, found)
    identity = [rule for rule in (*_of_key(table, found, partitions), *of_identity(table, found)) if rule[0]]
    yield from identity
    yield from _of_harm(found) if not identity else ()
    yield from _of_columns(table, found)
    yield from _of_declared(database, table, found)
    yield from _of_names(table, found)
    yield from _of_masks(table, found)
    yield from _of_large_values(table, found, partitions)


def _no_table(table: Table) -> Iterator[Rule]:
    yield True, f"PostgreSQL has no table {table.full_name}", "", "create it, or correct the name"


def _of_server(catalog: Catalog) -> Iterator[Rule]:
    now = "move its rows to a database whose encoding is UTF8 (pg_dump, then createdb -E UTF8 -T template0)"
    unsaid = f"its encoding is {catalog.encoding}, which does not say what letters its bytes are"
    yield catalog.encoding == "SQL_ASCII", unsaid, "", now
    now = "ALTER SYSTEM SET wal_level = logical and restart it (Amazon RDS: rds.logical_replication = 1)"
    yield catalog.wal_level != "logical", f"wal_level is '{catalog.wal_level}', capture needs 'logical'", "", now
    for role in catalog.missing_roles:
        yield True, f"there is no role {role}", "", "run: lake up, which creates it"
    now = f"ALTER ROLE {CAPTURE} REPLICATION (Amazon RDS: GRANT rds_replication), and GRANT CONNECT to it"
    yield not catalog.may_replicate, f"role {CAPTURE} may not replicate the database", "", now


def _of_log(database: Database, catalog: Catalog) -> Iterator[Rule]:
    """A lake that is away must not fill the disk of a server unasked. That of the lake has a limit."""
    own = database.source
    yield own and not own.unlimited_log and catalog.is_unlimited, UNLIMITED, "", f"{SET_LIMIT}; {ACCEPT_UNLIMITED}"


def _of_table(table: Table, found: SourceTable) -> Iterator[Rule]:
    name = found.full_name
    unlogged = f"{name} is not in the write-ahead log (unlogged or temporary)"
    yield found.persistence != "p", unlogged, "", "ALTER TABLE ... SET LOGGED, or leave it out"
    # A query of it reads their rows, too, and a publication sends none of their changes under its name.
    heirs = f"tables inherit from {name}, and their rows look like its own: {', '.join(found.heirs)}"
    yield found.heirs, heirs, "", f"capture these instead, {LEAVE_OUT}"
    now = f"ALTER ROLE ... BYPASSRLS for {' and '.join(found.hidden_from)}, {LEAVE_OUT}"
    yield found.hidden_from, f"row-level security may hide rows of {name} from the lake", "", now


def _of_harm(found: SourceTable) -> Iterator[Rule]:
    """The application comes first: PostgreSQL would refuse its statements, not ours."""
    name = found.full_name
    harmed = (
        f"updates and deletes of {name} would fail once it is captured: it has no replica identity that can be used"
    )
    now_full = f"use replica_identity: full, or make its primary key not deferrable, {LEAVE_OUT}"
    yield found.harmed, harmed, ".replica_identity", now_full


def _of_family(database: Database, found: SourceTable) -> Iterator[Rule]:
    name = found.full_name
    for parent in found.parents:
        now = f"leave {name} out: its rows are in the lake table of {parent}"
        yield parent in database.by_name, f"{name} is a partition of {parent}, which is captured, too", "", now
    now = "make them ordinary logged tables, or leave the table out"
    yield found.unlogged, f"PostgreSQL logs no changes of partitions: {', '.join(found.unlogged)}", "", now


def _of_key(table: Table, found: SourceTable, partitions: int) -> Iterator[Rule]:
    name, known = found.full_name, found.identities
    now = f"ALTER TABLE {signalled(name)} ADD PRIMARY KEY (...), {LEAVE_OUT}"
    if found.kind == "p" and not found.key:  # REPLICA IDENTITY FULL is not inherited either
        inherited = f"{name} has partitions and no primary key, so a later partition would have no replica identity"
        yield True, inherited, "", now
    elif table.without_key:
        yield from _without_key(table, known, partitions)
    elif not known:
        missing = f"{name} has no primary key, and no unique index that can identify its rows"
        yield True, missing, "", f"write without_key: append if its rows are only ever added, else multiset, {now}"
    elif not table.key:
        yield from _of_no_key(table, known[0])
    elif not is_known(table.key, known):
        choice = " or ".join(f"[{', '.join(columns)}]" for columns in known)
        other = f"({', '.join(table.key)}) is no key of {name} in PostgreSQL"
        yield True, other, ".key", f"write key: {choice}, or leave it out"
    computed = [column for column in table.key if column in found.generated]
    yield computed, f"the key of {name} has generated columns: {', '.join(computed)}", ".key", "leave the table out"
    for column in table.key if set(table.key) != set(found.key) else ():
        unsaid = f"column '{column}' cannot be named to Debezium as a key: it has one of : ; , or a space"
        yield set(column) & set(":;, "), unsaid, ".key", f"rename it, {LEAVE_OUT}"


def _without_key(table: Table, known: list[list[str]], partitions: int) -> Iterator[Rule]:
    keys = " or ".join(f"[{', '.join(columns)}]" for columns in known)
    has_key = f"{table.full_name} has a key: {keys}"
    yield known, has_key, ".without_key", "leave without_key out"
    several = f"the rows of {table.full_name} have no key that would keep them in one of {partitions} partitions"
    yield partitions > 1, several, ".topic_partitions", "write topic_partitions: 1"


def _of_no_key(table: Table, key: list[str]) -> Iterator[Rule]:
    """Why the key of the source cannot be that of the lake table."""
    try:
        replace(table, key=tuple(key))
    except ValidationError as problem:
        what, _, now = str(problem.errors()[0]["ctx"]["error"]).partition(" | ")
        yield True, what, ".key", now


def of_identity(table: Table, found: SourceTable) -> Iterator[Rule]:
    """PostgreSQL's own rule for an UPDATE and a DELETE of a published table (CheckCmdReplicaIdentity).

    The application is not to be refused, so this must hold before the table is published.
    """
    identity, name, where = table.replica_identity, found.full_name, ".replica_identity"
    refuses = "PostgreSQL would refuse each UPDATE and DELETE"
    is_primary = set(table.key) == set(found.key)
    other = "full" if not found.virtual else "index" if found.unique else ""
    now = f"use replica_identity: {other}" if other else f"make it immediate, {LEAVE_OUT}"
    deferred = f"the primary key of {name} is deferrable, which is no replica identity: {refuses}"
    yield identity == "default" and is_primary and found.deferrable, deferred, where, now
    later = f"the primary key of {name} is deferrable, so a later partition would have no replica identity: {refuses}"
    yield found.kind == "p" and identity == "full" and found.deferrable, later, "", f"make it immediate, {LEAVE_OUT}"
    by_key = f"replica_identity: default needs the primary key of {name} as key"
    yield identity == "default" and table.key and not is_primary, by_key, where, "use index, or full"
    by_index = f"replica_identity: index needs a key of {name} that is a unique index, not the primary key"
    has_index = set(table.key) in map(set, found.unique.values()) and found.kind == "r"
    yield identity == "index" and not has_index, by_index, where, "use default, or full"
    computed = f"{name} has virtual generated columns ({', '.join(found.virtual)}), which no log holds: {refuses}"
    other = "default" if found.key and not found.deferrable else "index" if found.unique else ""
    now = f"use replica_identity: {other}" if other else "leave the table out"
    yield identity == "full" and found.virtual, computed, where, now
    for publication in found.narrowed:
        yield from _of_other(table, found, publication)


def _of_other(table: Table, found: SourceTable, other: Narrowed) -> Iterator[Rule]:
    """A publication of somebody else may allow one identity only."""
    where, name = ".replica_identity", f"publication {other.publication}, with the replica identity {{}}"
    full, stored = table.replica_identity == "full", [one for one in found.generated if one not in found.virtual]
    refuses = f"PostgreSQL would refuse each UPDATE and DELETE of {found.full_name} because of {name}"
    listed = f"{refuses.format('full')}: it has a column list"
    yield full and other.columns is not None, listed, where, "use default, or change that publication"
    unpublished = f"{refuses.format('full')}: it does not publish the generated columns {', '.join(stored)}"
    yield full and stored and not other.generated, unpublished, where, "use default, or change that publication"
    key = set(table.key)
    lacking = sorted(key - set(other.columns or key))
    unlisted = f"{refuses.format('of the key')}: its column list lacks {', '.join(lacking)}"
    yield not full and lacking, unlisted, where, "change that publication"
    foreign = sorted(set(other.filtered) - key)
    filtered = f"{refuses.format('of the key')}: its row filter has {', '.join(foreign)}"
    yield not full and foreign, filtered, where, "use full, or change that publication"


def _of_columns(table: Table, found: SourceTable) -> Iterator[Rule]:
    name = found.full_name
    columns = [one for one in table.partition if one != TABLE_NAME]
    now = f"choose one of {', '.join(found.kept)}"
    for partition in columns:
        yield partition not in found.kept, f"{name} has no column '{partition}'", ".partition", now
    for column in table.bronze.columns:
        yield column not in found.kept, f"{name} has no column '{column}'", ".bronze.by", now
    # Debezium looks types up by their names alone, and the connector of all tables fails.
    shadowed = f"{name} has columns of types that bear the name of one of PostgreSQL's own: {', '.join(found.shadowed)}"
    yield found.shadowed, shadowed, "", f"ALTER TYPE or ALTER DOMAIN ... RENAME TO another name, {LEAVE_OUT}"
    dropped = [f"{column} {found.types.get(column)}" for column in found.kept if table.drops(column)]
    kept = [column for column in found.unmapped if column not in dropped]
    unmapped = f"{name} has columns of types that the lake can't keep: {', '.join(kept)}"
    now = f"change the type (text holds anything), drop it, {LEAVE_OUT}; docs/types.md lists what the lake keeps"
    yield kept, unmapped, "", now
    now = f"choose a column of {', '.join(PARTITION_TYPES)}, or leave partition out"
    for partition in columns:
        kind = found.types.get(partition, "text")
        no_folder = f"column {partition} is {kind}, which cannot name a folder"
        yield kind not in PARTITION_TYPES, no_folder, ".partition", now


def _of_declared(database: Database, table: Table, found: SourceTable) -> Iterator[Rule]:
    """The declared schema is all that a reader of JSON knows of a table."""
    stored = list(table.stored_columns(taken(table, found)).values())
    declared = columns_of(table.avsc) if table.avsc else stored
    for column in declared:
        known = column in stored or is_added_column(column)
        now = f"take it out of the file; the columns are {', '.join(stored)}"
        yield not known, f"{found.full_name} has no column '{column}'", ".avsc", now
    for column in stored if database.format == "json" else ():
        what = f"the declared schema has no field '{column}', which is a column of {found.full_name}"
        yield column not in declared, what, ".avsc", "add it to the file: what is not declared is not read"


def _of_names(table: Table, found: SourceTable) -> Iterator[Rule]:
    stored = table.stored_columns(taken(table, found))
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


def _of_masks(table: Table, found: SourceTable) -> Iterator[Rule]:
    """What the definition says of single columns."""
    for name, column in table.columns.items():
        where, is_there = f".columns.{name}", name in found.columns or name == ALL_OTHERS
        now = f"correct the name; the columns are {', '.join(found.columns)}"
        yield not is_there, f"{found.full_name} has no column '{name}': was it renamed?", where, now
        computed = f"column '{name}' is generated, which the lake leaves out anyway"
        yield name in found.generated, computed, where, "take it out of columns"
        kind = found.types.get(name, "text")
        unhashed = f"column '{name}' is {kind}, of which equal values may have different texts"
        now = f"drop it; hash is for {', '.join(HASHED_TYPES)}"
        yield column.hash and kind not in HASHED_TYPES, unhashed, where, now
    ruled = stored_columns(taken(table, found), table.key)
    for other, stored in ruled.items():
        for name in [name for name, chosen in lake_names(table.columns).items() if chosen == stored]:
            both = f"columns {name} and {other} would both become {stored}"
            meets = other not in lake_names(table.columns)
            yield meets, both, f".columns.{name}", "choose another lake_name, or give both one"


def _of_large_values(table: Table, found: SourceTable, partitions: int) -> Iterator[Rule]:
    """Under identity default a large value that did not change is taken from the stored row (ADR 18)."""
    toastable = [column for column in found.toastable if not table.drops(column)]
    large, is_default = ", ".join(toastable), table.replica_identity != "full" and bool(toastable)
    if is_default:
        left_out = f"a change does not contain an unchanged large value of {large}"
        aside = f"{left_out}, and a message that was set aside may contain it"
        now = "use on_bad_message: stop, or replica_identity: full"
        yield table.on_bad_message == "quarantine", aside, ".on_bad_message", now
        hard = f"{left_out}, and a hard delete leaves no row to take it from"
        yield table.delete == "hard", hard, ".delete", "use delete: soft, or replica_identity: full"
        unmarked = f"Debezium can't say that a large value of {', '.join(found.unmarked)} did not change"
        yield set(found.unmarked) & set(toastable), unmarked, ".replica_identity", "use full, or make them text"
        # Delete and create of a changed key must be in one partition, in their order.
        order = f"{large} of {table.full_name} may be large: values are taken over in the order of one partition only"
        now = "use full, or topic_partitions: 1"
        yield partitions > 1, order, ".replica_identity", now
