"""What a definition may not ask of a PostgreSQL database, given its catalog: each rule raises BadInput."""

from collections import Counter

from lake.config.definition import IDENTIFIER, Database, Table, is_added_column
from lake.config.errors import BadInput
from lake.sources.postgres.catalog import ORDINARY_KINDS, Catalog, SourceTable
from lake.sources.postgres.roles import CAPTURE

PERMANENT = "p"
BYTES = "bytea"
# A folder's name must lead back to the value, for Hudi, Spark and the metastore alike; these are tried.
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


def check_source(database: Database, catalog: Catalog, partitions: int) -> None:
    """BadInput for the first rule that the definition breaks; partitions: those of each topic."""
    where = f"PostgreSQL database {database.database}"
    if catalog.wal_level != "logical":
        now = "ALTER SYSTEM SET wal_level = logical and restart it (Amazon RDS: rds.logical_replication = 1)"
        raise BadInput(f"wal_level is '{catalog.wal_level}', capture needs 'logical'", where, now)
    if catalog.missing_roles:
        raise BadInput(f"there is no role {catalog.missing_roles[0]}", where, "run: lake up, which creates it")
    if not catalog.may_replicate:
        now = f"ALTER ROLE {CAPTURE} REPLICATION (Amazon RDS: GRANT rds_replication), and GRANT CONNECT to it"
        raise BadInput(f"role {CAPTURE} may not replicate the database", where, now)
    for table in database.tables:
        _check_table(database, table, catalog.tables.get(table.full_name), partitions)


def _check_table(database: Database, table: Table, found: SourceTable | None, partitions: int) -> None:
    where = f"databases/{database.database}.yaml, key tables.{table.full_name}"
    if found is None:
        now = "create it, or correct the name"
        raise BadInput(f"PostgreSQL has no table {table.full_name}", where, now)
    _check_kind(found, where)
    _check_key(table, found, where)
    _check_columns(table, found, where)
    _check_partition(table, found, where)
    _check_large_values(table, found, where)
    _check_order(table, found, where, partitions)
    _check_bytes_in_key(table, found, where)
    if found.hidden_from:
        now = f"ALTER ROLE ... BYPASSRLS for {' and '.join(found.hidden_from)}, or leave the table out"
        raise BadInput(f"row-level security may hide rows of {found.full_name} from the lake", where, now)


def _check_large_values(table: Table, found: SourceTable, where: str) -> None:
    """Under this identity a large value that did not change is taken from the stored row (ADR 18)."""
    if table.replica_identity == "full" or not found.toastable:
        return
    large = f"an unchanged large value of {', '.join(found.toastable)} does not come with its change"
    if table.on_bad_message == "quarantine":
        problem = f"{large}, and a message that was set aside may have brought it"
        raise BadInput(problem, f"{where}.on_bad_message", "use on_bad_message: stop, or replica_identity: full")
    if table.delete == "hard":
        now = "use delete: soft, or replica_identity: full"
        raise BadInput(f"{large}, and a hard delete leaves no row to take it from", f"{where}.delete", now)
    if found.unmarked:
        now = "use full, or make them text"
        problem = f"Debezium can't say that a large value of {', '.join(found.unmarked)} did not change"
        raise BadInput(problem, f"{where}.replica_identity", now)


def _check_order(table: Table, found: SourceTable, where: str, partitions: int) -> None:
    """Delete and create of a changed key must stand in one partition, in their order."""
    if table.replica_identity == "default" and found.toastable and partitions > 1:
        raise BadInput(
            f"{', '.join(found.toastable)} of {table.full_name} may be large: values are taken over in the order of "
            "one partition only",
            f"{where}.replica_identity",
            "use full, or set kafka.partitions to 1 in the environment",
        )


def _check_bytes_in_key(table: Table, found: SourceTable, where: str) -> None:
    """As a part of a text, where a key is one, bytes that are no text all look alike: rows would be taken for one."""
    of_bytes = [name for name in found.key if found.types.get(name) == BYTES]
    is_text = len(found.key) > 1 or (table.replica_identity == "default" and found.toastable)
    if of_bytes and is_text:
        now = "leave the table out, or give it a key of another type"
        if len(found.key) == 1:
            now = "use replica_identity: full"
        problem = f"{of_bytes[0]} is {BYTES}, which the lake can't tell apart in a key"
        kind = "of several columns" if len(found.key) > 1 else "under replica_identity: default with large values"
        raise BadInput(f"{problem} {kind}", f"{where}.key", now)


def _check_partition(table: Table, found: SourceTable, where: str) -> None:
    if table.partition and found.types.get(table.partition, "text") not in PARTITION_TYPES:
        problem = f"column {table.partition} is {found.types[table.partition]}, which no folder can be named by"
        now = f"choose a column of {', '.join(PARTITION_TYPES)}, or leave partition out"
        raise BadInput(problem, f"{where}.partition", now)


def _check_kind(found: SourceTable, where: str) -> None:
    if found.kind not in ORDINARY_KINDS:
        raise BadInput(f"{found.full_name} is not a table", where, "capture the tables that it is made of")
    if found.persistence != PERMANENT:
        now = "ALTER TABLE ... SET LOGGED, or leave it out"
        raise BadInput(f"{found.full_name} is not in the write-ahead log (unlogged or temporary)", where, now)


def _check_key(table: Table, found: SourceTable, where: str) -> None:
    if not found.key:
        now = f"ALTER TABLE {table.full_name} ADD PRIMARY KEY (...), or leave the table out"
        raise BadInput(f"{table.full_name} has no primary key", where, now)
    if list(table.key) != found.key:
        raise BadInput(
            f"the primary key of {table.full_name} is ({', '.join(found.key)}), not ({', '.join(table.key)})",
            f"{where}.key",
            f"write key: [{', '.join(found.key)}]",
        )


def _check_columns(table: Table, found: SourceTable, where: str) -> None:
    if table.partition and table.partition not in found.columns:
        now = f"choose one of {', '.join(found.columns)}"
        raise BadInput(f"{table.full_name} has no column '{table.partition}'", f"{where}.partition", now)
    if found.generated:
        # The stream lacks them and the snapshot does not: Debezium 3.7 then gives the snapshot up (seen).
        now = "leave the table out, or make them ordinary columns kept by a trigger"
        raise BadInput(f"{table.full_name} has generated columns: {', '.join(found.generated)}", where, now)
    if found.unmapped:
        now = "change the type (text holds anything), or leave the table out; docs/types.md lists what the lake keeps"
        raise BadInput(
            f"{table.full_name} has columns of types that the lake can't keep: {', '.join(found.unmapped)}", where, now
        )
    _check_names(found.columns, where)


def _check_names(columns: list[str], where: str) -> None:
    for column in columns:
        if is_added_column(column):
            now = "rename it in PostgreSQL, or leave the table out"
            raise BadInput(f"column '{column}' has the name of one that the lake adds", where, now)
        if not IDENTIFIER.match(column.lower()):
            now = "rename it in PostgreSQL: letters, digits and _ only, not starting with a digit"
            raise BadInput(f"column '{column}' can't be named so in Avro and Hive", where, now)
    twins = [name for name, count in Counter(column.lower() for column in columns).items() if count > 1]
    if twins:
        now = "rename one of them in PostgreSQL: Hive knows no case"
        raise BadInput(f"two columns are both '{twins[0]}' in lower case", where, now)
