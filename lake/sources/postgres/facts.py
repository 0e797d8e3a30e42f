"""What the guardian reads of a source: its server, the slot, and of each table signs of changes without events."""

from collections.abc import Callable
from dataclasses import dataclass, field

from lake.config.definition import Database
from lake.config.environment import Environment
from lake.sources import engine
from lake.sources.engine import Observation
from lake.sources.postgres import names
from lake.sources.postgres.connection import Connection, connect_source, rows, value
from lake.sources.postgres.relations import NARROWED, TABLE, WANTED, leaves, parts

# The first eight digits of a log file's name are its timeline; pg_control_checkpoint() shows a new one only later.
SERVER = """
SELECT (SELECT system_identifier::text FROM pg_control_system()) AS system_identifier,
  left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) AS timeline,
  (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint AS position
"""
SLOT = """
SELECT s.plugin::text, s.database::text, s.wal_status, (s.confirmed_flush_lsn - '0/0'::pg_lsn)::bigint AS captured,
  pg_wal_lsn_diff(pg_current_wal_lsn(), s.restart_lsn)::bigint AS retained_bytes, s.active, a.usename::text AS reader,
  (r.sent_lsn - '0/0'::pg_lsn)::bigint AS sent, s.active_pid AS pid, s.safe_wal_size::bigint AS safe_bytes
FROM pg_replication_slots s LEFT JOIN pg_stat_activity a ON a.pid = s.active_pid
LEFT JOIN pg_stat_replication r ON r.pid = s.active_pid WHERE s.slot_name = %s
"""
TABLES = f"""
SELECT name AS full_name, c.oid::bigint AS relation, r.oid::bigint AS membership, leaf.files, leaf.identities,
  own.defaulted, own.columns, own.attributes, own.key_index, types.labels, types.composites,
  (pubinsert AND pubupdate AND pubdelete AND pubviaroot) IS NOT FALSE AS published,
  coalesce({NARROWED}, false) AS narrowed
FROM unnest(%(names)s::text[], %(schemas)s::text[], %(tables)s::text[]) AS {WANTED} JOIN pg_class c ON c.oid = {TABLE}
LEFT JOIN pg_publication p ON p.pubname = %(publication)s
LEFT JOIN pg_publication_rel r ON r.prpubid = p.oid AND r.prrelid = c.oid
CROSS JOIN LATERAL (
    SELECT jsonb_object_agg(leaf.oid::text, leaf.relfilenode::bigint) AS files,
      coalesce(array_agg(DISTINCT leaf.relreplident::text), '{{}}') AS identities
    FROM pg_class leaf WHERE leaf.relkind = 'r' AND leaf.oid IN ({leaves("c.oid")})) leaf
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(a.attname::text ORDER BY a.attnum) FILTER (WHERE a.atthasmissing), '{{}}') AS defaulted,
      coalesce(jsonb_object_agg(a.attnum::text, a.attname), '{{}}') AS columns,
      coalesce(jsonb_object_agg(a.attnum::text, a.xmin::text), '{{}}') AS attributes,
      ARRAY(SELECT unnest(ARRAY[k.oid::bigint, coalesce(pg_relation_filenode(k.conindid)::bigint, 0)])
            FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p') AS key_index
    FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) own
CROSS JOIN LATERAL (
    WITH RECURSIVE made AS (
      SELECT b.atttypid AS type FROM pg_attribute b WHERE b.attrelid = c.oid AND b.attnum > 0
      UNION
      SELECT part.type FROM made JOIN pg_type t ON t.oid = made.type CROSS JOIN LATERAL (
        SELECT unnest(ARRAY[t.typbasetype, t.typelem])
        UNION ALL
        SELECT g.rngsubtype FROM pg_range g WHERE t.oid::text IN (g.rngtypid::text, to_jsonb(g) ->> 'rngmultitypid')
        UNION ALL
        SELECT f.atttypid FROM pg_attribute f WHERE f.attrelid = t.typrelid AND f.attnum > 0) AS part (type))
    SELECT
      (SELECT coalesce(jsonb_object_agg(e.oid::text, e.enumlabel), '{{}}')
       FROM pg_enum e WHERE e.enumtypid IN (SELECT type FROM made)) AS labels,
      (SELECT coalesce(jsonb_object_agg(t.oid::text, ARRAY[t.oid::regtype::text] || ARRAY(
         SELECT f.attnum::text FROM pg_attribute f
         WHERE f.attrelid = t.typrelid AND f.attnum > 0 AND NOT f.attisdropped ORDER BY f.attnum)), '{{}}')
       FROM pg_type t WHERE t.typrelid <> 0 AND t.oid IN (SELECT type FROM made)) AS composites) types
"""

# pg_class knows the size of the last VACUUM or ANALYZE: a large table that had none would look empty.
SIZE = f"""
SELECT coalesce(sum(pg_table_size(leaf.oid)), 0)::bigint
FROM unnest(%s::text[], %s::text[], %s::text[]) AS {WANTED} JOIN pg_class leaf ON leaf.oid IN ({leaves(TABLE)})
"""
SIZE_WITHIN = "SET lock_timeout = '1s'"  # behind a waiting ALTER TABLE it would wait as long as that


@dataclass(frozen=True)
class ServerFacts(engine.ServerFacts):
    """Which server this is (kept across restarts), its timeline, and the end of its log in bytes."""

    system_identifier: str
    timeline: str


@dataclass(frozen=True)
class Slot:
    """A replication slot; captured and retained_bytes are None where PostgreSQL has none.

    captured: the slot's confirmed_flush_lsn. reader: None without a reader. sent: the end of the log that was decoded
    for the reader, None without a reader. pid: of the reader's walsender. safe_bytes: how much more log may be written
    before the server gives the slot up; None without a limit.
    """

    plugin: str
    database: str
    wal_status: str
    captured: int | None
    retained_bytes: int | None
    active: bool
    reader: str | None
    sent: int | None = None
    pid: int | None = None
    safe_bytes: int | None = None

    @property
    def progress(self) -> tuple[int | None, ...]:
        """The first one moves while PostgreSQL decodes a large transaction."""
        return self.sent, self.captured


@dataclass(frozen=True)
class TableFacts(engine.TableFacts):
    """Signs of rows that changed without events.

    membership: its entry in the publication; it is another one each time the table is added.
    files: the file of each relation that holds rows, by oid; a rewrite makes another one (ALTER TYPE, VACUUM FULL).
    attributes: of each column, by its number, the transaction that changed it last. VACUUM FULL changes none; TRUNCATE
    does not either, but sends an event. The files and these are read in one snapshot.
    defaulted: columns whose DEFAULT is the value of rows that are older than the column.
    published: the publication publishes all changes. narrowed: a row filter or a column list leaves some out.
    identities: the replica identities of the relations that hold rows, by PostgreSQL's letters ("f", "d", "i", "n").
    labels: of the enums of its columns, whatever is made of them, by oid: a label that is renamed keeps it.
    composites: of the composite types of its columns, whatever is made of them, by oid: the name, and which attributes
      they have, by number. Another attribute changes the text of each value without an event.
    key_index: the oid of the primary key and the file of its index, 0 without one; empty without such a key.
    """

    membership: int | None
    files: dict[str, int] | None
    defaulted: list[str]
    published: bool = True
    narrowed: bool = False
    identities: list[str] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    composites: dict[str, list[str]] = field(default_factory=dict)
    attributes: dict[str, str] = field(default_factory=dict)
    key_index: list[int] = field(default_factory=list)


def read_server(connection: Connection) -> ServerFacts:
    (found,) = rows(connection, ServerFacts, SERVER)
    return found


def read_slot(connection: Connection, database: Database) -> Slot | None:
    return next(iter(rows(connection, Slot, SLOT, [names.slot(database)])), None)


def read_tables(connection: Connection, database: Database) -> dict[str, TableFacts]:
    values = {"publication": names.publication(database), **parts(database.by_name)}
    return {table.full_name: table for table in rows(connection, TableFacts, TABLES, values)}


def read_capture(environment: Environment, database: Database) -> Slot | None:
    with connect_source(environment, database) as connection:
        return read_slot(connection, database)


def size(environment: Environment, database: Database, tables: list[str]) -> int:
    with connect_source(environment, database) as connection:
        connection.execute(SIZE_WITHIN)
        return int(value(connection, SIZE, *parts(tables).values()))


def observe(environment: Environment, database: Database, position: Callable[[], int]) -> Observation:
    """The slot is read before the connector's position. A slot never confirms what Kafka has not acknowledged, so one
    that is ahead of a position read later is not the slot that the connector used. The server is read after the
    position: its log is always ahead of what was read from it.
    """
    with connect_source(environment, database) as connection:
        slot, acknowledged = read_slot(connection, database), position()
        return Observation(slot, acknowledged, read_server(connection), read_tables(connection, database))
