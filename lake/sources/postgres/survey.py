"""What a server has: its databases, and the relations of one with rows, size and key. Reads the catalog alone."""

from dataclasses import dataclass

from lake.config.environment import Environment
from lake.config.naming import joined
from lake.config.source import SourceServer
from lake.sources.postgres.connection import connect_server, rows

KINDS = {"r": "table", "p": "partitioned table", "v": "view", "m": "materialized view", "f": "foreign table"}
UNLIMITED = -1


@dataclass(frozen=True)
class FoundDatabase:
    """A database of the server."""

    name: str
    bytes: int


@dataclass(frozen=True)
class Relation:
    """A table, or what looks like one. A partitioned table has the rows and the size of its partitions.

    rows: as PostgreSQL estimates them; None if it never counted. key: the columns of the primary key. types: by column.
    """

    schema: str
    name: str
    kind: str
    rows: int | None
    bytes: int
    key: list[str]
    types: dict[str, str]


@dataclass(frozen=True)
class Survey:
    """version and encoding: of PostgreSQL and the database. slot_limit_mb: max_slot_wal_keep_size; -1: no limit."""

    version: str
    encoding: str
    slot_limit_mb: int
    relations: list[Relation]

    @property
    def is_unlimited(self) -> bool:
        """True if a capture that stands still may fill the disk of the server."""
        return self.slot_limit_mb == UNLIMITED


@dataclass(frozen=True)
class _Server:
    version: str
    encoding: str
    slot_limit_mb: int


def databases(environment: Environment, source: SourceServer | None) -> list[FoundDatabase]:
    """All databases that a person may have made."""
    with connect_server(environment, source, "postgres") as connection:
        return rows(connection, FoundDatabase, DATABASES)


def table_names(environment: Environment, source: SourceServer | None, database: str) -> list[str]:
    """The tables of a database as a definition names them; what cannot be a table of the lake is left out."""
    with connect_server(environment, source, database) as connection:
        return [joined(*row) for row in connection.execute(NAMES.encode())]


def survey(environment: Environment, source: SourceServer | None, database: str) -> Survey:
    """One database, in one transaction that writes nothing."""
    with connect_server(environment, source, database) as connection:
        connection.read_only = True
        (server,) = rows(connection, _Server, SERVER)
        found = rows(connection, Relation, RELATIONS)
    named = [Relation(**{**vars(one), "kind": KINDS[one.kind]}) for one in found]
    return Survey(server.version, server.encoding, server.slot_limit_mb, named)


DATABASES = """
SELECT datname::text AS name, CASE WHEN has_database_privilege(oid, 'CONNECT') THEN pg_database_size(oid) ELSE 0 END
  AS bytes FROM pg_database WHERE datallowconn AND NOT datistemplate AND datname <> 'registry' ORDER BY 1
"""
SERVER = """
SELECT current_setting('server_version') AS version, current_setting('server_encoding') AS encoding,
  coalesce((SELECT setting::int FROM pg_settings WHERE name = 'max_slot_wal_keep_size'), -1) AS slot_limit_mb
"""
# A partition belongs to its root. The relations of extensions are theirs.
OFFERED = """c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
  AND n.nspname NOT IN ('information_schema', 'lake') AND n.nspname !~ '^pg_'
  AND NOT EXISTS (SELECT FROM pg_depend d
                  WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')"""
NAMES = f"""
SELECT n.nspname::text, c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE {OFFERED} AND c.relkind IN ('r', 'p') AND c.relpersistence = 'p' ORDER BY 1, 2
"""
RELATIONS = f"""
SELECT n.nspname::text AS schema, c.relname::text AS name, c.relkind::text AS kind, held.*, own.*,
  ARRAY(SELECT a.attname::text FROM pg_index i CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS u (attnum, n)
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.attnum
        WHERE i.indrelid = c.oid AND i.indisprimary ORDER BY u.n) AS key
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
CROSS JOIN LATERAL (
    WITH RECURSIVE part AS (SELECT c.oid, c.relkind UNION ALL
      SELECT m.oid, m.relkind FROM part JOIN pg_inherits i ON i.inhparent = part.oid
        JOIN pg_class m ON m.oid = i.inhrelid WHERE part.relkind = 'p')
    SELECT coalesce(sum(pg_total_relation_size(part.oid)), 0)::bigint AS bytes,
      sum(CASE WHEN leaf.reltuples >= 0 THEN leaf.reltuples ELSE s.n_live_tup END)::bigint AS rows
    FROM part JOIN pg_class leaf USING (oid) LEFT JOIN pg_stat_all_tables s ON s.relid = part.oid
    WHERE part.relkind IN ('r', 'm')) held
CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_object_agg(a.attname, format_type(a.atttypid, a.atttypmod)), '{{}}') AS types
    FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) own
WHERE {OFFERED} ORDER BY 1, 2
"""
