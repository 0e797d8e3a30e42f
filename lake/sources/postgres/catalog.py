"""What PostgreSQL says about itself: the facts that a plan compares the definition with."""

from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.rows import class_row, dict_row

from lake.config.definition import HEARTBEAT, SIGNAL, Database
from lake.config.environment import LOOPBACK, Environment
from lake.config.errors import BadInput, LakeError
from lake.config.home import Home
from lake.rendering.connector import CAPTURE_USER
from lake.sources.postgres.publication import required_rights
from lake.sources.postgres.setup import VERIFY_USER
from lake.sources.postgres.types import MAPPED

CONNECT_TIMEOUT_S = 5
# A server behind a broken network is given up after 20 s, not after the hours of the kernel's defaults.
GIVEN_UP: dict[str, Any] = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 2,
    "tcp_user_timeout": 20_000,
}
LOCK_TIMEOUT = "5s"
SHORT_BITS = 128  # with their header no longer than what PostgreSQL leaves in the row in any case, 24 bytes
# Not every version of PostgreSQL has the columns: 15 brought both.
NARROWED = "(to_jsonb(r) ->> 'prqual' IS NOT NULL OR to_jsonb(r) ->> 'prattrs' IS NOT NULL)"
ORDINARY_KINDS = {"r": "table", "p": "partitioned table"}


@dataclass(frozen=True)
class SourceTable:
    """One relation of the source; leaves are the relations that hold its rows, with their replica identity.

    toastable: the non-key columns that PostgreSQL may store out of line in this table (F8); unmarked: those
    of them for whose type Debezium has no placeholder.
    unmapped: "column type" of each column whose type the lake has no place for.
    hidden_from: those of the lake's roles that row-level security may show less than all rows.
    types: of each column, a domain's being the one behind it; "enum" for every enum.
    """

    full_name: str
    kind: str
    persistence: str
    columns: list[str]
    generated: list[str]
    key: list[str]
    toastable: list[str]
    leaves: dict[str, str]
    unmarked: list[str] = field(default_factory=list)
    unmapped: list[str] = field(default_factory=list)
    hidden_from: list[str] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Publication:
    """The publication as it stands; narrowed are the members of which it tells a part only."""

    members: frozenset[str]
    as_wanted: bool
    narrowed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Source:
    """One database as it stands."""

    wal_level: str
    has_capture_user: bool
    existing: frozenset[str]
    tables: dict[str, SourceTable]
    publication: Publication | None
    missing_rights: dict[str, list[str]]
    schemas_without_usage: frozenset[str]
    may_replicate: bool = True


def connect_source(environment: Environment, database: str) -> psycopg.Connection[Any]:
    """A connection as the administrator; BadInput when PostgreSQL can't be reached or refuses."""
    where = f"PostgreSQL at {LOOPBACK}:{environment.ports.postgres}"
    try:
        return psycopg.connect(Home(environment).dsn(database), connect_timeout=CONNECT_TIMEOUT_S, **GIVEN_UP)
    except psycopg.OperationalError as error:
        raise _connection_problem(str(error), database, where, environment) from None


def execute_source(environment: Environment, database: str, statements: list[str]) -> None:
    """Runs the statements in one transaction: all of them or none; LakeError names the one that failed."""
    with connect_source(environment, database) as connection:
        connection.execute(f"SET lock_timeout = '{LOCK_TIMEOUT}'")
        for statement in statements:
            try:
                connection.execute(statement.encode())
            except psycopg.errors.LockNotAvailable:
                raise LakeError(
                    f"another session holds a lock for more than {LOCK_TIMEOUT}",
                    f"{database}: {statement}",
                    "end its transaction (see pg_stat_activity), then run: lake apply",
                ) from None
            except psycopg.Error as error:
                reason = error.diag.message_primary or type(error).__name__
                raise LakeError(
                    f"PostgreSQL refused: {reason}", f"{database}: {statement}", "nothing of it was kept"
                ) from None


def slot_reader(environment: Environment, database: Database) -> int | None:
    """The process id of the walsender that streams from the slot now, None while nobody does."""
    with connect_source(environment, database.database) as connection:
        query = "SELECT active_pid FROM pg_replication_slots WHERE slot_name = %s"
        row = connection.execute(query, [database.slot]).fetchone()
    return int(row[0]) if row and row[0] is not None else None


def read_source(environment: Environment, database: Database) -> Source:
    """All facts of one database, read in one transaction."""
    with connect_source(environment, database.database) as connection:
        names = [table.full_name for table in database.tables]
        has_user = _exists(connection, "SELECT 1 FROM pg_roles WHERE rolname = %s", CAPTURE_USER)
        return Source(
            wal_level=str(_value(connection, "SHOW wal_level")),
            has_capture_user=has_user,
            existing=_existing(connection),
            tables=_tables(connection, names),
            publication=_publication(connection, database.publication),
            missing_rights=_missing_rights(connection, names) if has_user else {},
            schemas_without_usage=_schemas_without_usage(connection, names) if has_user else frozenset(),
            may_replicate=_exists(connection, REPLICATES, CAPTURE_USER),
        )


def _connection_problem(text: str, database: str, where: str, environment: Environment) -> BadInput:
    if "password authentication failed" in text:
        now = f"restore {environment.secrets_path}, made by this lake's first start"
        return BadInput("PostgreSQL refuses the password of user postgres", where, now)
    if f'database "{database}" does not exist' in text:
        now = f"create and load it, or correct databases/{database}.yaml"
        return BadInput(f"there is no database '{database}'", where, now)
    return BadInput("PostgreSQL does not answer", where, "run: lake up (lake status and lake logs postgres say more)")


def _value(connection: psycopg.Connection[Any], query: str) -> object:
    row = connection.execute(query.encode()).fetchone()
    return row[0] if row else None


def _exists(connection: psycopg.Connection[Any], query: str, name: str) -> bool:
    return connection.execute(query.encode(), [name]).fetchone() is not None


def _existing(connection: psycopg.Connection[Any]) -> frozenset[str]:
    """Those of the lake's own objects that exist: "lake", "lake.heartbeat", "lake.signal"."""
    wanted = [HEARTBEAT, SIGNAL]
    rows = connection.execute(
        "SELECT name FROM unnest(%s::text[]) name WHERE to_regclass(name) IS NOT NULL "
        "UNION ALL SELECT nspname FROM pg_namespace WHERE nspname = 'lake'",
        [wanted],
    )
    return frozenset(str(row[0]) for row in rows)


READERS = [CAPTURE_USER, VERIFY_USER]
# On Amazon RDS a role replicates by its membership.
REPLICATES = """
SELECT 1 FROM pg_roles r WHERE rolname = %s AND has_database_privilege(r.oid, current_database(), 'CONNECT')
  AND (rolsuper OR rolreplication
    OR pg_has_role(r.oid, (SELECT oid FROM pg_roles WHERE rolname = 'rds_replication'), 'MEMBER'))
"""
TABLES = """
SELECT name AS full_name, c.relkind::text AS kind, c.relpersistence::text AS persistence,
  ARRAY(SELECT a.attname::text FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum) AS columns,
  ARRAY(SELECT a.attname::text FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attgenerated <> '' AND NOT a.attisdropped
        ORDER BY a.attnum) AS generated,
  ARRAY(SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY AS u(attnum, n)
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.attnum ORDER BY u.n) AS key,
  ARRAY(SELECT DISTINCT a.attname::text FROM pg_attribute a JOIN pg_class leaf ON leaf.oid = a.attrelid
        WHERE leaf.oid = ANY (l.oids) AND leaf.reltoastrelid <> 0 AND a.attnum > 0 AND NOT a.attisdropped
          AND a.attstorage <> 'p' AND NOT a.attname = ANY (ARRAY(
            SELECT p.attname FROM pg_attribute p WHERE p.attrelid = c.oid AND p.attnum = ANY (k.conkey)))
        ORDER BY 1) AS toastable,
  ARRAY(SELECT DISTINCT a.attname::text FROM pg_attribute a JOIN pg_class leaf ON leaf.oid = a.attrelid
        JOIN pg_type t ON t.oid = a.atttypid
        WHERE leaf.oid = ANY (l.oids) AND leaf.reltoastrelid <> 0 AND NOT a.attisdropped
          AND 'bit'::regtype IN (t.oid, t.typbasetype)
          AND NOT greatest(a.atttypmod, t.typtypmod) BETWEEN 1 AND %(short_bits)s
        ORDER BY 1) AS unmarked,
  (SELECT jsonb_object_agg(n.nspname || '.' || leaf.relname, leaf.relreplident)
   FROM pg_class leaf JOIN pg_namespace n ON n.oid = leaf.relnamespace
   WHERE leaf.oid = ANY (l.oids)) AS leaves,
  typed.unmapped, typed.types,
  ARRAY(SELECT r.rolname::text FROM pg_roles r
        WHERE r.rolname = ANY (%(readers)s) AND c.relrowsecurity AND NOT (r.rolsuper OR r.rolbypassrls)
          AND (c.relforcerowsecurity OR NOT pg_has_role(r.oid, c.relowner, 'USAGE')) ORDER BY 1) AS hidden_from
FROM unnest(%(names)s::text[]) name
JOIN pg_class c ON c.oid = to_regclass(name)
LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'p'
CROSS JOIN LATERAL (SELECT CASE WHEN c.relkind = 'p' THEN ARRAY(
    SELECT t.relid::oid FROM pg_partition_tree(c.oid) t WHERE t.isleaf) ELSE ARRAY[c.oid] END AS oids) l
CROSS JOIN LATERAL (
    WITH RECURSIVE base AS (
      SELECT a.attnum, a.attname, a.atttypid AS type FROM pg_attribute a
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      UNION ALL
      SELECT b.attnum, b.attname, t.typbasetype FROM base b JOIN pg_type t ON t.oid = b.type WHERE t.typtype = 'd'
    )
    SELECT coalesce(jsonb_object_agg(b.attname,
        CASE t.typtype WHEN 'e' THEN 'enum' ELSE format_type(b.type, NULL) END), '{}') AS types,
      coalesce(array_agg(b.attname || ' ' || format_type(b.type, NULL) ORDER BY b.attnum) FILTER (
        WHERE coalesce(e.typtype, t.typtype) <> 'e'
          AND NOT coalesce(e.typname, t.typname)::text = ANY (%(mapped)s)), '{}') AS unmapped
    FROM base b JOIN pg_type t ON t.oid = b.type
    LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
    WHERE t.typtype <> 'd') typed
"""


def _tables(connection: psycopg.Connection[Any], names: list[str]) -> dict[str, SourceTable]:
    with connection.cursor(row_factory=class_row(SourceTable)) as cursor:
        values = {"names": names, "mapped": sorted(MAPPED), "short_bits": SHORT_BITS, "readers": READERS}
        found = cursor.execute(TABLES, values).fetchall()
    return {table.full_name: table for table in found}


def _publication(connection: psycopg.Connection[Any], name: str) -> Publication | None:
    with connection.cursor(row_factory=dict_row) as cursor:
        query = (
            "SELECT pubviaroot AND pubinsert AND pubupdate AND pubdelete AND pubtruncate AS as_wanted, "
            "ARRAY(SELECT n.nspname || '.' || c.relname FROM pg_publication_rel r "
            "JOIN pg_class c ON c.oid = r.prrelid JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE r.prpubid = p.oid) AS members, "
            "ARRAY(SELECT n.nspname || '.' || c.relname FROM pg_publication_rel r "
            "JOIN pg_class c ON c.oid = r.prrelid JOIN pg_namespace n ON n.oid = c.relnamespace "
            f"WHERE r.prpubid = p.oid AND {NARROWED}) AS narrowed FROM pg_publication p WHERE pubname = %s"
        )
        row = cursor.execute(query.encode(), [name]).fetchone()
    if row is None:
        return None
    return Publication(frozenset(row["members"]), bool(row["as_wanted"]), frozenset(row["narrowed"]))


def _missing_rights(connection: psycopg.Connection[Any], names: list[str]) -> dict[str, list[str]]:
    """Per table the rights that the capture user lacks; all of them for a table that does not exist yet."""
    pairs = [(table, right) for table, rights in required_rights(names).items() for right in rights]
    rows = connection.execute(
        "SELECT name, right_ FROM unnest(%s::text[], %s::text[]) WITH ORDINALITY AS r(name, right_, n) "
        "WHERE NOT coalesce(has_table_privilege(%s, to_regclass(name), right_), false) ORDER BY n",
        [[table for table, _ in pairs], [right for _, right in pairs], CAPTURE_USER],
    )
    missing: dict[str, list[str]] = {}
    for table, right in rows:
        missing.setdefault(table, []).append(right)
    return missing


def _schemas_without_usage(connection: psycopg.Connection[Any], names: list[str]) -> frozenset[str]:
    schemas = sorted({name.partition(".")[0] for name in [*names, HEARTBEAT]})
    rows = connection.execute(
        "SELECT name FROM unnest(%s::text[]) name "
        "WHERE NOT coalesce(has_schema_privilege(%s, to_regnamespace(name), 'USAGE'), false)",
        [schemas, CAPTURE_USER],
    )
    return frozenset(str(row[0]) for row in rows)
