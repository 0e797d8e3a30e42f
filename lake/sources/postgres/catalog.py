"""The catalog of PostgreSQL: the facts that the definition is checked against."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from psycopg.rows import dict_row
from pydantic import ValidationError

from lake.config.definition import Database, Table
from lake.config.environment import Environment
from lake.config.naming import capture_name
from lake.sources.engine import SourceFacts
from lake.sources.postgres import preparation
from lake.sources.postgres.connection import Connection, connect_source, value
from lake.sources.postgres.relations import TABLE, WANTED, above, leaves, parts, shadowed
from lake.sources.postgres.roles import CAPTURE, VERIFY
from lake.sources.postgres.types import MADE, MAPPED

SHORT_BITS = 128  # with their header, at most the 24 bytes that PostgreSQL always leaves in the row
ORDINARY_KINDS = {"r": "table", "p": "partitioned table"}
READERS = [CAPTURE, VERIFY]
NOTHING: Mapping[str, list[str]] = MappingProxyType({})


@dataclass(frozen=True)
class Narrowed:
    """A publication of somebody else with a table, as far as it decides whether the table can be updated.

    columns: its column list, None without one. filtered: the columns of its row filter. generated: it publishes stored
    generated columns.
    """

    publication: str
    columns: list[str] | None
    filtered: list[str]
    generated: bool


@dataclass(frozen=True)
class SourceTable:
    """One relation of the source.

    toastable: the non-key columns that PostgreSQL may store out of line in this table (F8); unmarked: those
    of them for whose type Debezium has no placeholder.
    unmapped: "column type" of each column whose type the lake can't keep.
    hidden_from: the roles of the lake from which row-level security may hide rows.
    harmed: its updates and deletes would fail once it is published.
    heirs: the tables that inherit from it.
    shadowed: "column type" of each column whose type bears the name of a type of PostgreSQL itself.
    types: of each column; for a domain, its base type; "enum" for every enum.
    generated: the columns that PostgreSQL computes; virtual: those of them that it does not store.
    key: the columns of the primary key. deferrable: PostgreSQL does not take that one as an identity.
    unique: the columns of each other index that PostgreSQL takes as an identity, by its name.
    parents: the partitioned tables that it is a part of.
    grids: the columns that are declared as arrays of several dimensions.
    unlogged: the partitions whose changes PostgreSQL does not log. narrowed: other publications that publish a part of
    it, or of a table above it.
    """

    full_name: str
    kind: str
    persistence: str
    columns: list[str]
    generated: list[str]
    key: list[str]
    toastable: list[str]
    unmarked: list[str] = field(default_factory=list)
    unmapped: list[str] = field(default_factory=list)
    hidden_from: list[str] = field(default_factory=list)
    shadowed: list[str] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)
    harmed: bool = False
    heirs: list[str] = field(default_factory=list)
    virtual: list[str] = field(default_factory=list)
    deferrable: bool = False
    unique: dict[str, list[str]] = field(default_factory=dict)
    parents: list[str] = field(default_factory=list)
    unlogged: list[str] = field(default_factory=list)
    narrowed: list[Narrowed] = field(default_factory=list)
    grids: list[str] = field(default_factory=list)

    @property
    def kept(self) -> list[str]:
        """The columns that the lake has: a generated one is computed again by whoever needs it."""
        return [column for column in self.columns if column not in self.generated]

    @property
    def identities(self) -> list[list[str]]:
        """The columns by which a row can be told from the others: of the primary key first, then the smallest."""
        others = sorted(self.unique.items(), key=lambda one: (len(one[1]), one[0]))
        return [*([self.key] if self.key else []), *(columns for _, columns in others)]


@dataclass(frozen=True)
class Catalog:
    """The server's settings, the lake's roles, and the defined tables by name."""

    wal_level: str
    missing_roles: list[str]
    may_replicate: bool
    tables: dict[str, SourceTable]
    encoding: str = "UTF8"
    is_unlimited: bool = False  # it keeps its log for a slot until its disk is full


def is_known(key: Iterable[str], known: list[list[str]]) -> bool:
    return set(key) in map(set, known)


def resolved_table(table: Table, found: SourceTable, applied: Iterable[str] = ()) -> Table:
    """The table with what its definition leaves to PostgreSQL: the key, and the columns that the lake does not have.

    The order of a key's columns is that of PostgreSQL. applied: the key that the lake table is built with, which stays
    as long as it is a key.
    """
    known = [list(applied), *found.identities] if is_known(applied, found.identities) else found.identities
    keys = [] if table.without_key else [columns for columns in known if set(columns) == set(table.key or columns)]
    key = tuple(keys[0]) if keys else table.key
    by_index = key if key and set(key) != set(found.key) else ()
    with suppress(ValidationError):
        keyed = replace(table, key=key, left_out=tuple(found.generated), message_key=by_index)
        keyed = replace(keyed, as_text=tuple(found.grids))
        return replace(keyed, taken=tuple(taken(keyed, found)))
    return table


def taken(table: Table, found: SourceTable) -> list[str]:
    """The columns that the lake has."""
    return [column for column in found.kept if not table.drops(column)]


def resolved(database: Database, catalog: Catalog, applied: Mapping[str, list[str]]) -> Database:
    """The definition with what it leaves to PostgreSQL. applied: the keys of lake tables, by "schema.table"."""
    tables = {
        name: resolved_table(table, catalog.tables[name], applied.get(name, ())) if name in catalog.tables else table
        for name, table in database.by_name.items()
    }
    return database.model_copy(update={"by_name": tables})


def read_source(
    environment: Environment, database: Database, applied: Mapping[str, list[str]] = NOTHING
) -> SourceFacts:
    """All facts of one database, read in one transaction that writes nothing."""
    with connect_source(environment, database) as connection:
        connection.read_only = True
        catalog = read_catalog(connection, list(database.by_name), is_own=database.source is not None)
        known = resolved(database, catalog, applied)
        catalog = replace(catalog, tables=_with_harm(connection, known, catalog.tables))
        missing = preparation.unmet_of_server(environment, connection, database)
        missing += preparation.unmet(connection, database.database, preparation.database_steps(known))
        departed = preparation.unmet(connection, database.database, [preparation.departures(known)])
    return SourceFacts(catalog, missing, departed, known)


def _with_harm(connection: Connection, database: Database, tables: dict[str, SourceTable]) -> dict[str, SourceTable]:
    harmed = {name for (name,) in connection.execute(preparation.harmed(database).encode())}
    return {name: replace(table, harmed=name in harmed) for name, table in tables.items()}


def read_catalog(connection: Connection, names: list[str], is_own: bool = False) -> Catalog:
    """What the rules for these tables need to know, and for capture at all. is_own: its plan makes the lake's roles."""
    return Catalog(
        wal_level=str(value(connection, "SHOW wal_level")),
        missing_roles=[] if is_own else value(connection, MISSING_ROLES, READERS),
        may_replicate=is_own or bool(value(connection, MAY_REPLICATE, CAPTURE)),
        tables={table.full_name: table for table in read_tables(connection, names)},
        encoding=str(value(connection, ENCODING)),
        is_unlimited=bool(value(connection, IS_UNLIMITED)),
    )


def read_tables(connection: Connection, names: list[str]) -> list[SourceTable]:
    """The relations of these names, "schema.table", that exist."""
    own = capture_name(connection.info.dbname)
    types = {"mapped": sorted(MAPPED), "made": list(MADE)}
    values = {**parts(names), "own": own, **types, "short_bits": SHORT_BITS, "readers": READERS}
    with connection.cursor(row_factory=dict_row) as cursor:
        found = cursor.execute(TABLES.encode(), values).fetchall()
        narrowed = cursor.execute(PUBLISHED.encode(), values).fetchall() if _has_lists(connection) else []
    by_table: dict[str, list[Narrowed]] = {}
    for one in narrowed:
        by_table.setdefault(one.pop("full_name"), []).append(Narrowed(**one))
    return [SourceTable(**table, narrowed=by_table.get(table["full_name"], [])) for table in found]


def _has_lists(connection: Connection) -> bool:
    """From version 15 on a publication may publish a part of a table."""
    return connection.info.server_version >= 150000


IS_UNLIMITED = "SELECT setting = '-1' FROM pg_settings WHERE name = 'max_slot_wal_keep_size'"
ENCODING = "SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = current_database()"
MISSING_ROLES = "SELECT ARRAY(SELECT name FROM unnest(%s::text[]) name WHERE to_regrole(name) IS NULL)"
# On Amazon RDS a role replicates by its membership.
MAY_REPLICATE = """
SELECT true FROM pg_roles r WHERE rolname = %s AND has_database_privilege(r.oid, current_database(), 'CONNECT')
  AND (rolsuper OR rolreplication
    OR pg_has_role(r.oid, (SELECT oid FROM pg_roles WHERE rolname = 'rds_replication'), 'MEMBER'))
"""
NAMED = f"unnest(%(names)s::text[], %(schemas)s::text[], %(tables)s::text[]) AS {WANTED}"
NAME = "n.nspname || '.' || p.relname"
# The unique indexes of a table, and whether PostgreSQL takes them as replica identity.
INDEXES = """
    SELECT x.relname::text AS name, i.indisprimary, key.columns, i.indisvalid AND i.indimmediate AND i.indpred IS NULL
        AND i.indexprs IS NULL AND key.not_null AS is_identity
    FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid
    CROSS JOIN LATERAL (
        SELECT array_agg(a.attname::text ORDER BY u.n) AS columns, bool_and(a.attnotnull AND NOT EXISTS (
            SELECT FROM pg_constraint k WHERE k.conrelid = a.attrelid AND k.contype = 'n' AND NOT k.convalidated
              AND a.attnum = ANY (k.conkey))) AS not_null
        FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS u (attnum, n)
        LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = u.attnum WHERE u.n <= i.indnkeyatts) key
    WHERE i.indrelid = c.oid AND i.indisunique"""
# Publications of others that hold a table, a table above it, their schemas, or all tables.
PUBLISHED = f"""
SELECT DISTINCT name AS full_name, p.pubname::text AS publication,
  (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
   WHERE a.attrelid = r.prrelid AND a.attnum = ANY (r.prattrs::int2[])) AS columns,
  ARRAY(SELECT DISTINCT a.attname::text FROM regexp_matches(r.prqual::text, ':varattno (\\d+)', 'g') used
        JOIN pg_attribute a ON a.attrelid = r.prrelid AND a.attnum = used[1]::int ORDER BY 1) AS filtered,
  coalesce(to_jsonb(p) ->> 'pubgencols', 's') = 's' AS generated
FROM {NAMED}
CROSS JOIN LATERAL (SELECT oid FROM ({above(TABLE)}) up
  UNION SELECT oid FROM ({leaves(TABLE)}) down) one
JOIN pg_class c ON c.oid = one.oid
CROSS JOIN pg_publication p LEFT JOIN pg_publication_rel r ON r.prpubid = p.oid AND r.prrelid = c.oid
WHERE p.pubname <> %(own)s AND (p.pubupdate OR p.pubdelete)
  AND (p.puballtables OR r.oid IS NOT NULL
  OR EXISTS (SELECT FROM pg_publication_namespace s WHERE s.pnpubid = p.oid AND s.pnnspid = c.relnamespace))
ORDER BY 1, 2
"""
# A type of an extension, but no array. In snapshots the driver makes a map of an hstore, without order.
OF_EXTENSION = "(t.typtype = 'b' AND t.typelem = 0 AND t.oid >= 16384 AND t.typname <> 'hstore')"
# An array whose elements are not separated by commas, but for box[], which is kept as one text.
OTHER_DELIMITER = "(e.typdelim <> ',' AND t.oid <> '_box'::regtype)"
TABLES = f"""
SELECT name AS full_name, c.relkind::text AS kind, c.relpersistence::text AS persistence,
  key.columns AS key, key.unique,
  key.deferrable, large.*, typed.*, around.*,
  ARRAY(SELECT r.rolname::text FROM pg_roles r
        WHERE r.rolname = ANY (%(readers)s) AND c.relrowsecurity AND NOT (r.rolsuper OR r.rolbypassrls)
          AND (c.relforcerowsecurity OR NOT pg_has_role(r.oid, c.relowner, 'USAGE')) ORDER BY 1) AS hidden_from,
  ARRAY(SELECT i.inhrelid::regclass::text FROM pg_inherits i
        WHERE i.inhparent = c.oid AND c.relkind = 'r' ORDER BY 1) AS heirs,
  ARRAY(SELECT shadow FROM ({shadowed("c.oid")}) columns ORDER BY place) AS shadowed
FROM {NAMED} JOIN pg_class c ON c.oid = {TABLE}
CROSS JOIN LATERAL (SELECT
    coalesce((SELECT i.columns FROM ({INDEXES}) i WHERE i.indisprimary), '{{}}') AS columns,
    EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary AND NOT i.indimmediate) AS deferrable,
    (SELECT coalesce(jsonb_object_agg(i.name, i.columns), '{{}}') FROM ({INDEXES}) i
     WHERE NOT i.indisprimary AND i.is_identity) AS unique) key
CROSS JOIN LATERAL (SELECT
    ARRAY(SELECT {NAME} FROM ({above("c.oid")}) up JOIN pg_class p USING (oid) JOIN pg_namespace n
        ON n.oid = p.relnamespace WHERE p.relkind = 'p' AND p.oid <> c.oid) AS parents,
    ARRAY(SELECT {NAME} FROM ({leaves("c.oid")}) leaf JOIN pg_class p USING (oid) JOIN pg_namespace n
        ON n.oid = p.relnamespace WHERE c.relkind = 'p' AND (p.relkind <> 'r' OR p.relpersistence <> 'p')
        ORDER BY 1) AS unlogged) around
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(DISTINCT a.attname::text) FILTER (
        WHERE a.attstorage <> 'p' AND NOT a.attname::text = ANY (key.columns)), '{{}}') AS toastable,
      coalesce(array_agg(DISTINCT a.attname::text) FILTER (
        WHERE 'bit'::regtype IN (t.oid, t.typbasetype)
          AND NOT greatest(a.atttypmod, t.typtypmod) BETWEEN 1 AND %(short_bits)s), '{{}}') AS unmarked
    FROM pg_attribute a JOIN pg_class leaf ON leaf.oid = a.attrelid JOIN pg_type t ON t.oid = a.atttypid
    WHERE leaf.oid IN ({leaves("c.oid")}) AND a.attgenerated = ''
      AND leaf.reltoastrelid <> 0 AND a.attnum > 0 AND NOT a.attisdropped) large
CROSS JOIN LATERAL (
    WITH RECURSIVE base AS (
      SELECT a.attnum, a.attname::text, a.attgenerated, a.atttypid AS type, a.attndims::int AS dimensions
      FROM pg_attribute a
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      UNION ALL
      SELECT b.attnum, b.attname, b.attgenerated, t.typbasetype, t.typndims
      FROM base b JOIN pg_type t ON t.oid = b.type WHERE t.typtype = 'd'
    )
    SELECT coalesce(array_agg(b.attname ORDER BY b.attnum), '{{}}') AS columns,
      coalesce(array_agg(b.attname ORDER BY b.attnum) FILTER (WHERE b.attgenerated <> ''), '{{}}') AS generated,
      coalesce(array_agg(b.attname ORDER BY b.attnum) FILTER (WHERE b.attgenerated = 'v'), '{{}}') AS virtual,
      coalesce(array_agg(b.attname ORDER BY b.attnum) FILTER (WHERE b.dimensions > 1 AND b.attgenerated = ''),
        '{{}}') AS grids,
      coalesce(jsonb_object_agg(b.attname,
        CASE t.typtype WHEN 'e' THEN 'enum' ELSE format_type(b.type, NULL) END), '{{}}') AS types,
      coalesce(array_agg(b.attname || ' ' || format_type(b.type, NULL) ORDER BY b.attnum) FILTER (
        WHERE b.attgenerated = '' AND ({OTHER_DELIMITER} OR NOT {OF_EXTENSION}
          AND NOT coalesce(e.typtype, t.typtype)::text = ANY (%(made)s)
          AND NOT coalesce(e.typname, t.typname)::text = ANY (%(mapped)s))), '{{}}') AS unmapped
    FROM base b JOIN pg_type t ON t.oid = b.type
    LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
    WHERE t.typtype <> 'd') typed
"""
