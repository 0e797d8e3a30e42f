"""The catalog of PostgreSQL: the facts that the definition is checked against."""

from dataclasses import dataclass, field, replace

from lake.config.definition import Database
from lake.config.environment import Environment
from lake.sources.engine import SourceFacts
from lake.sources.postgres import preparation
from lake.sources.postgres.connection import connect_source, rows, value
from lake.sources.postgres.relations import TABLE, WANTED, leaves, parts
from lake.sources.postgres.roles import CAPTURE, VERIFY
from lake.sources.postgres.types import MAPPED

SHORT_BITS = 128  # with their header, at most the 24 bytes that PostgreSQL always leaves in the row
ORDINARY_KINDS = {"r": "table", "p": "partitioned table"}
READERS = [CAPTURE, VERIFY]


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


@dataclass(frozen=True)
class Catalog:
    """The server's settings, the lake's roles, and the defined tables by name."""

    wal_level: str
    missing_roles: list[str]
    may_replicate: bool
    tables: dict[str, SourceTable]


def read_source(environment: Environment, database: Database) -> SourceFacts:
    """All facts of one database, read in one transaction that writes nothing."""
    values = {**parts(database.by_name), "mapped": sorted(MAPPED), "short_bits": SHORT_BITS, "readers": READERS}
    with connect_source(environment, database) as connection:
        connection.read_only = True
        harmed = {name for (name,) in connection.execute(preparation.harmed(database).encode())}
        catalog = Catalog(
            wal_level=str(value(connection, "SHOW wal_level")),
            missing_roles=[] if database.source else value(connection, MISSING_ROLES, READERS),
            may_replicate=bool(database.source or value(connection, MAY_REPLICATE, CAPTURE)),
            tables={
                table.full_name: replace(table, harmed=table.full_name in harmed)
                for table in rows(connection, SourceTable, TABLES, values)
            },
        )
        missing = preparation.unmet_of_server(environment, connection, database)
        missing += preparation.unmet(connection, database.database, preparation.database_steps(database))
        departed = preparation.unmet(connection, database.database, [preparation.departures(database)])
    return SourceFacts(catalog, missing, departed)


MISSING_ROLES = "SELECT ARRAY(SELECT name FROM unnest(%s::text[]) name WHERE to_regrole(name) IS NULL)"
# On Amazon RDS a role replicates by its membership.
MAY_REPLICATE = """
SELECT true FROM pg_roles r WHERE rolname = %s AND has_database_privilege(r.oid, current_database(), 'CONNECT')
  AND (rolsuper OR rolreplication
    OR pg_has_role(r.oid, (SELECT oid FROM pg_roles WHERE rolname = 'rds_replication'), 'MEMBER'))
"""
TABLES = f"""
SELECT name AS full_name, c.relkind::text AS kind, c.relpersistence::text AS persistence, key.columns AS key,
  large.*, typed.*,
  ARRAY(SELECT r.rolname::text FROM pg_roles r
        WHERE r.rolname = ANY (%(readers)s) AND c.relrowsecurity AND NOT (r.rolsuper OR r.rolbypassrls)
          AND (c.relforcerowsecurity OR NOT pg_has_role(r.oid, c.relowner, 'USAGE')) ORDER BY 1) AS hidden_from,
  ARRAY(SELECT i.inhrelid::regclass::text FROM pg_inherits i
        WHERE i.inhparent = c.oid AND c.relkind = 'r' ORDER BY 1) AS heirs,
  ARRAY(SELECT a.attname || ' ' || format_type(a.atttypid, NULL)
        FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
        LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
        JOIN pg_type own ON own.typname = coalesce(e.typname, t.typname)
          AND own.typnamespace = 'pg_catalog'::regnamespace AND own.oid <> coalesce(e.oid, t.oid)
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum) AS shadowed
FROM unnest(%(names)s::text[], %(schemas)s::text[], %(tables)s::text[]) AS {WANTED} JOIN pg_class c ON c.oid = {TABLE}
CROSS JOIN LATERAL (SELECT ARRAY(
    SELECT a.attname::text FROM pg_constraint k CROSS JOIN unnest(k.conkey) WITH ORDINALITY AS u (attnum, n)
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.attnum
    WHERE k.conrelid = c.oid AND k.contype = 'p' ORDER BY u.n) AS columns) key
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(DISTINCT a.attname::text) FILTER (
        WHERE a.attstorage <> 'p' AND NOT a.attname::text = ANY (key.columns)), '{{}}') AS toastable,
      coalesce(array_agg(DISTINCT a.attname::text) FILTER (
        WHERE 'bit'::regtype IN (t.oid, t.typbasetype)
          AND NOT greatest(a.atttypmod, t.typtypmod) BETWEEN 1 AND %(short_bits)s), '{{}}') AS unmarked
    FROM pg_attribute a JOIN pg_class leaf ON leaf.oid = a.attrelid JOIN pg_type t ON t.oid = a.atttypid
    WHERE leaf.oid IN ({leaves("c.oid")})
      AND leaf.reltoastrelid <> 0 AND a.attnum > 0 AND NOT a.attisdropped) large
CROSS JOIN LATERAL (
    WITH RECURSIVE base AS (
      SELECT a.attnum, a.attname::text, a.attgenerated, a.atttypid AS type FROM pg_attribute a
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      UNION ALL
      SELECT b.attnum, b.attname, b.attgenerated, t.typbasetype FROM base b JOIN pg_type t ON t.oid = b.type
      WHERE t.typtype = 'd'
    )
    SELECT coalesce(array_agg(b.attname ORDER BY b.attnum), '{{}}') AS columns,
      coalesce(array_agg(b.attname ORDER BY b.attnum) FILTER (WHERE b.attgenerated <> ''), '{{}}') AS generated,
      coalesce(jsonb_object_agg(b.attname,
        CASE t.typtype WHEN 'e' THEN 'enum' ELSE format_type(b.type, NULL) END), '{{}}') AS types,
      coalesce(array_agg(b.attname || ' ' || format_type(b.type, NULL) ORDER BY b.attnum) FILTER (
        WHERE coalesce(e.typtype, t.typtype) <> 'e'
          AND NOT coalesce(e.typname, t.typname)::text = ANY (%(mapped)s)), '{{}}') AS unmapped
    FROM base b JOIN pg_type t ON t.oid = b.type
    LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
    WHERE t.typtype <> 'd') typed
"""
