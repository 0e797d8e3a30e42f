"""All that capture needs in a PostgreSQL server, as one list of steps.

`lake plan` evaluates their conditions, which neither writes nor locks; `lake apply` and the chart execute them.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import psycopg
from psycopg import sql

from lake.config.definition import HEARTBEAT, SIGNAL, Database
from lake.config.environment import Environment
from lake.config.errors import LakeError
from lake.sources.change import Change
from lake.sources.postgres import names, passwords
from lake.sources.postgres.connection import Connection, connect_source, refusal
from lake.sources.postgres.relations import NARROWED, TABLE, WANTED, leaves, parts
from lake.sources.postgres.roles import CAPTURE, READERS, REGISTRY, REGISTRY_DATABASE, USERS, VERIFY
from lake.sources.postgres.updatable import broken_where

LOCK_TIMEOUT = "5s"
RDS_REPLICATION = "rds_replication"  # on RDS no role can have the attribute REPLICATION; this role replaces it
# From version 18 on PostgreSQL refuses each update of a table under FULL with stored generated columns that are not
# published. So they are, from the beginning: a migration may add one.
OPTIONS = (
    "'publish = ''insert, update, delete, truncate'', publish_via_partition_root = true' || "
    "CASE WHEN current_setting('server_version_num')::int < 180000 THEN '' "
    "ELSE ', publish_generated_columns = stored' END"
)
AS_WANTED = (
    "pubviaroot AND pubinsert AND pubupdate AND pubdelete AND pubtruncate"
    " AND coalesce(to_jsonb(pg_publication) ->> 'pubgencols', 's') = 's'"
)
LAKE_TABLES = {
    # Debezium updates its one row, so that the slot advances while the captured tables are idle (F15).
    HEARTBEAT: "CREATE TABLE lake.heartbeat (id int PRIMARY KEY, at timestamptz NOT NULL)",
    # A row inserted here makes the running connector read tables (an incremental snapshot).
    SIGNAL: "CREATE TABLE lake.signal (id varchar(64) PRIMARY KEY, type varchar(32) NOT NULL, data text)",
}
# Debezium writes its watermarks of incremental snapshots into the signal table.
LAKE_RIGHTS = {HEARTBEAT: "SELECT, INSERT, UPDATE", SIGNAL: "SELECT, INSERT, DELETE"}
# The setting of OPTIONS for generated columns, where the server has it: "s", stored ones.
GENERATED = "CASE WHEN current_setting('server_version_num')::int >= 180000 THEN 's' END"
# The unique index over exactly the key of a wanted table c; true if it is the identity.
BY_KEY = """
    SELECT x.relname AS index, i.indisreplident AS is_identity FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid
    WHERE i.indrelid = c.oid AND i.indisunique AND i.indimmediate AND NOT i.indisprimary AND i.indpred IS NULL
      AND to_jsonb(ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid
        AND a.attnum = ANY (i.indkey[0:i.indnkeyatts - 1]) ORDER BY a.attname COLLATE "C")) = key::jsonb
    ORDER BY i.indisreplident DESC, 1 LIMIT 1"""
MEMBER = "n.nspname || '.' || c.relname"  # of members()
PARTS = "schema_name, table_name"  # of WANTED
PROOFS = f"""
SELECT statement FROM unnest(%(names)s::text[], %(schemas)s::text[], %(tables)s::text[]) AS {WANTED}
CROSS JOIN LATERAL ({leaves(TABLE)}) leaf
JOIN pg_class c USING (oid) JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN LATERAL (SELECT attname FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
  ORDER BY attnum LIMIT 1) a ON true
CROSS JOIN unnest(ARRAY[format('EXPLAIN UPDATE ONLY %%I.%%I SET %%I = DEFAULT', n.nspname, c.relname, a.attname),
  format('EXPLAIN DELETE FROM ONLY %%I.%%I', n.nspname, c.relname)]) statement
WHERE c.relkind = 'r' ORDER BY 1
"""


@dataclass(frozen=True)
class Step:
    """One step. object, action and statement are SQL expressions; condition is SQL that is true where the step is done.

    each: the FROM clause of what the step is repeated for. table: the captured table that it is made for, as SQL.
    """

    object: str
    action: str
    statement: str
    condition: str
    each: str = ""
    table: str = "''"

    @property
    def unmet(self) -> str:
        """The query for what is not done: object, action, statement, table."""
        columns = f"{self.object} AS object, {self.action} AS action, {self.statement} AS statement, {self.table} AS of"
        return f"SELECT {columns} {self.each}\n  WHERE ({self.condition}) IS NOT TRUE ORDER BY 1, 2"


def unmet(connection: Connection, database: str, steps: Iterable[Step]) -> list[Change]:
    """The steps that are not done, in their order. One query, so that all answers are from the same moment."""
    queries = (f"SELECT {n} AS n, * FROM ({step.unmet}) step_{n}" for n, step in enumerate(steps))
    rows = connection.execute(f"{' UNION ALL '.join(queries)} ORDER BY n, object, action".encode()).fetchall()
    return [Change("source", database, *row[1:]) for row in rows]


def unmet_of_server(environment: Environment, connection: Connection, database: Database) -> list[Change]:
    """What a server that the definition names lacks: `lake up` prepares only its own."""
    if database.source is None:
        return []
    steps = unmet(connection, database.database, own_server_steps(database.database))
    return [*steps, *passwords.unset(environment, database)]


def carry_out(connection: Connection, steps: Iterable[Step]) -> None:
    """Executes the steps one after the other, as the scripts do."""
    for step in steps:
        for change in unmet(connection, "", [step]):
            connection.execute(change.detail.encode())


def execute(environment: Environment, database: Database, changes: Sequence[Change]) -> None:
    """Runs the changes in one transaction: all of them or none; LakeError names the one that failed.

    At the end PostgreSQL itself says whether the tables can still be updated and deleted from.
    """
    where, tables = database.database, sorted({change.table for change in changes if change.table})
    with connect_source(environment, database) as connection:
        connection.execute(f"SET lock_timeout = '{LOCK_TIMEOUT}'")
        for statement in chain((change.detail for change in changes), _proofs(connection, tables)):
            try:
                connection.execute(passwords.with_verifier(environment, connection, statement).encode())
            except psycopg.errors.LockNotAvailable:
                raise LakeError(
                    f"another session holds a lock for more than {LOCK_TIMEOUT}",
                    f"{where}: {statement}",
                    "end its transaction (see pg_stat_activity), then run: lake apply",
                ) from None
            except psycopg.Error as error:
                raise LakeError(refusal(error), f"{where}: {statement}", "nothing was changed") from None


def _proofs(connection: Connection, tables: list[str]) -> Iterator[str]:
    """Statements that PostgreSQL refuses if it would refuse changes of the tables. EXPLAIN runs nothing, no trigger
    either. A generator: the tables are looked up after the changes.
    """
    yield from (row[0] for row in connection.execute(PROOFS.encode(), parts(tables)).fetchall())


def server_steps(databases: Iterable[str]) -> Iterator[Step]:
    """Users without passwords, the registry's database, and the databases that do not exist; for `postgres`."""
    yield from _users(USERS)
    # An administrator who is no superuser may give a database only to a role that it can become.
    right = "CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END"
    able = f"{_is_database(REGISTRY_DATABASE)} OR pg_has_role({literal(REGISTRY)}, {right})"
    yield _step(REGISTRY, "grant to the administrator", f"GRANT {name(REGISTRY)} TO CURRENT_USER", able)
    yield _create_database(REGISTRY_DATABASE, f" OWNER {name(REGISTRY)}")
    for database in databases:
        yield _create_database(database)
        yield from _access(database)


def own_server_steps(database: str) -> Iterator[Step]:
    """The users of a server that the definition names, and their access to the database, which exists there."""
    yield from _users(READERS)
    yield from _access(database)


def _users(names: Iterable[str]) -> Iterator[Step]:
    for user in names:
        exists = f"to_regrole({literal(user)}) IS NOT NULL"
        yield _step(user, "create role", f"CREATE ROLE {name(user)} LOGIN", exists)
    # The session that streams the log runs no statement that could set it, and decodes each transaction within one.
    is_set = "'transaction_timeout=0' = ANY (setconfig)"
    unlimited = (
        "current_setting('server_version_num')::int < 170000 OR EXISTS (SELECT FROM pg_db_role_setting"
        f" WHERE setrole = to_regrole({literal(CAPTURE)}) AND setdatabase = 0 AND {is_set})"
    )
    statement = f"ALTER ROLE {name(CAPTURE)} SET transaction_timeout = 0"
    yield _step(CAPTURE, "limit no transaction", statement, unlimited)
    rds = f"to_regrole({literal(RDS_REPLICATION)})"
    member = f"pg_has_role(to_regrole({literal(CAPTURE)}), {rds}, 'MEMBER')"
    grant = f"GRANT {RDS_REPLICATION} TO {name(CAPTURE)}"
    yield _step(RDS_REPLICATION, f"grant to {CAPTURE}", grant, f"{rds} IS NULL OR {member}")
    allowed = f"(SELECT rolreplication FROM pg_roles WHERE rolname = {literal(CAPTURE)})"
    statement = f"ALTER ROLE {name(CAPTURE)} REPLICATION"
    yield _step(CAPTURE, "allow replication", statement, f"{rds} IS NOT NULL OR {allowed}")


def _access(database: str) -> Iterator[Step]:
    for user in READERS:
        held = f"has_database_privilege(to_regrole({literal(user)}), {literal(database)}, 'CONNECT')"
        grant = f"GRANT CONNECT ON DATABASE {name(database)} TO {name(user)}"
        yield _step(database, f"grant to {user}", grant, held)


def database_steps(database: Database) -> Iterator[Step]:
    """The steps in one database. Its tables may be created later."""
    yield _step("lake", "create schema", "CREATE SCHEMA IF NOT EXISTS lake", "to_regnamespace('lake') IS NOT NULL")
    for table, create in LAKE_TABLES.items():
        yield _step(table, "create table", create, f"to_regclass({literal(table)}) IS NOT NULL")
    yield _identities(database)
    yield from _publication(database)
    yield from _rights(database)


def departures(database: Database) -> Step:
    """The tables that are published and no longer defined."""
    action = f"'drop ' || {MEMBER} || ' (its topic and its lake tables are kept)'"
    return _dropped(database, action, _is_published(database))


def members(database: Database) -> str:
    """The relations of the database's publication, as a FROM clause."""
    return members_of(literal(names.publication(database)))


def members_of(publication: str) -> str:
    """The same. publication: its name, as SQL."""
    return (
        f"FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid AND p.pubname = {publication}\n"
        "  JOIN pg_class c ON c.oid = r.prrelid JOIN pg_namespace n ON n.oid = c.relnamespace"
    )


def _create_database(database: str, owner: str = "") -> Step:
    return _step(database, "create database", f"CREATE DATABASE {name(database)}{owner}", _is_database(database))


def _is_database(database: str) -> str:
    return f"EXISTS (SELECT FROM pg_database WHERE datname = {literal(database)})"


def _identities(database: Database) -> Step:
    """The replica identity of the relations that hold the rows."""
    words = "CASE letter WHEN 'f' THEN 'full' WHEN 'i' THEN 'using index' ELSE 'default' END"
    using = "format('USING INDEX %I', coalesce(by_key.index, 'no unique index over the key'))"
    return Step(
        "n.nspname || '.' || c.relname",
        f"'replica identity ' || {words}",
        "format('ALTER TABLE ONLY %I.%I REPLICA IDENTITY %s', n.nspname, c.relname,\n"
        f"    CASE WHEN identity = 'INDEX' THEN {using} ELSE upper({words}) END)",
        "c.relreplident = letter AND (identity <> 'INDEX' OR by_key.is_identity)",
        table="name",
        each=f"FROM {wanted(database)} CROSS JOIN LATERAL ({leaves(TABLE)}) leaf\n"
        "  JOIN pg_class c USING (oid) JOIN pg_namespace n ON n.oid = c.relnamespace\n"
        f"  CROSS JOIN LATERAL (SELECT {identity_of()} AS letter) wanted_identity\n"
        f"  LEFT JOIN LATERAL ({BY_KEY}) by_key ON true",
    )


def identity_of() -> str:
    """The letter of the identity that the definition gives a relation c, unless updates would then fail."""
    return (
        "(CASE WHEN identity = 'INDEX' THEN 'i'"
        f" WHEN identity = 'FULL' AND NOT {broken_where('c.oid', literal('f'), GENERATED)} THEN 'f' ELSE 'd' END)"
    )


def _harmed() -> str:
    """True if updates of the table `name` would fail once it is published: it is not, until that is mended."""
    by_other = broken_where("c.oid", "letter", GENERATED)
    broken = f"CASE identity WHEN 'INDEX' THEN NOT EXISTS ({BY_KEY}) ELSE {by_other} END"
    held = f"c.oid IN ({leaves(TABLE)})"
    letters = f"CROSS JOIN LATERAL (SELECT {identity_of()} AS letter) wanted_identity"
    return f"EXISTS (SELECT FROM pg_class c {letters} WHERE c.relkind = 'r' AND {held} AND {broken})"


def _publication(database: Database) -> Iterator[Step]:
    """The publication starts empty, because a table may be created later."""
    published_as = names.publication(database)
    found = f"FROM pg_publication WHERE pubname = {literal(published_as)}"
    exists, as_wanted = f"EXISTS (SELECT {found})", f"NOT EXISTS (SELECT {found} AND NOT ({AS_WANTED}))"
    create, options = (
        f"format('{verb} PUBLICATION %I {word} (%s)', {literal(published_as)}, {OPTIONS})"
        for verb, word in (("CREATE", "WITH"), ("ALTER", "SET"))
    )
    yield Step(literal(published_as), "'create publication'", create, exists)
    yield Step(literal(published_as), "'set publication options'", options, as_wanted)
    action = f"'drop ' || {MEMBER} || ', which is published in part only'"
    yield _dropped(database, action, f"NOT ({NARROWED} AND {_is_published(database)})")
    yield Step(
        literal(published_as),
        "'add ' || name",
        # Without ONLY it would take the tables that inherit from it, too, with whatever identity they have.
        f"format('ALTER PUBLICATION %I ADD TABLE ONLY %I.%I', {literal(published_as)}, {PARTS})",
        f"{_once_there(f'EXISTS (SELECT {members(database)} AND c.oid = {TABLE} AND NOT {NARROWED})')}"
        f"\n    OR {_harmed()}",
        f"FROM {wanted(database)}",
        "name",
    )


def _dropped(database: Database, action: str, condition: str) -> Step:
    publication = literal(names.publication(database))
    drop = f"format('ALTER PUBLICATION %I DROP TABLE %I.%I', {publication}, n.nspname, c.relname)"
    return Step(publication, action, drop, condition, members(database), MEMBER)


def harmed(database: Database) -> str:
    """A query: the tables of the definition that cannot be published, because their updates would fail."""
    return f"SELECT name FROM {wanted(database)} WHERE {_harmed()}"


def wanted(database: Database) -> str:
    """The tables to publish with the identities of their relations, as a FROM clause."""
    identities = [*(table.replica_identity.upper() for table in database.tables), *("DEFAULT" for _ in LAKE_TABLES)]
    keys = [*(json.dumps(sorted(table.key)) for table in database.tables), *("[]" for _ in LAKE_TABLES)]
    listed = rows_of(*parts(published(database)).values(), identities, keys)
    return f"{listed} AS {WANTED[:-1]}, identity, key)"


def published(database: Database) -> list[str]:
    """All that the publication has: the tables of the definition, and those of the lake itself."""
    return [*database.by_name, *LAKE_TABLES]


def _is_published(database: Database) -> str:
    """True for a member that is to be published."""
    return f"EXISTS (SELECT FROM {named(published(database))} WHERE schema_name = n.nspname AND table_name = c.relname)"


def _rights(database: Database) -> Iterator[Step]:
    needed = [(table, role) for role in (CAPTURE, VERIFY) for table in database.by_name]
    needed += [(table, CAPTURE) for table in LAKE_RIGHTS]
    schemas = dict.fromkeys((parts([table])["schemas"][0], role) for table, role in needed)
    yield Step(
        "name",
        "'grant to ' || role",
        "format('GRANT USAGE ON SCHEMA %I TO %I', name, role)",
        "(name <> 'lake' AND to_regnamespace(quote_ident(name)) IS NULL) OR "
        "has_schema_privilege(to_regrole(role), to_regnamespace(quote_ident(name)), 'USAGE')",
        f"FROM {rows_of(*zip(*schemas, strict=True))} AS wanted (name, role)",
    )
    right = f"has_table_privilege(to_regrole(role), {TABLE}, one)"
    own = [*parts(LAKE_RIGHTS).values(), [CAPTURE for _ in LAKE_RIGHTS], LAKE_RIGHTS.values()]
    columns = f"{WANTED[:-1]}, role, rights)"
    rights = f"SELECT *, 'SELECT' FROM {named(database.by_name)} CROSS JOIN {rows_of([CAPTURE, VERIFY])}"
    yield Step(
        "name",
        "'grant to ' || role",
        f"format('GRANT %s ON %I.%I TO %I', rights, {PARTS}, role)",
        _once_there(f"NOT EXISTS (SELECT FROM unnest(string_to_array(rights, ', ')) one WHERE {right} IS NOT TRUE)"),
        f"FROM ({rights} UNION ALL SELECT * FROM {rows_of(*own)}) AS {columns}",
        "name",
    )


def _once_there(condition: str) -> str:
    """True also for a table that does not exist yet; the lake's own tables are made by earlier steps."""
    own = ", ".join(map(literal, LAKE_TABLES))
    return f"(name NOT IN ({own}) AND {TABLE} IS NULL) OR {condition}"


def named(names: Iterable[str]) -> str:
    """The tables of these names in a FROM clause."""
    return f"{rows_of(*parts(names).values())} AS {WANTED}"


def rows_of(*columns: Iterable[str]) -> str:
    return f"unnest({lists(*columns)})"


def lists(*columns: Iterable[str]) -> str:
    return ", ".join(map(_array, columns))


def _array(texts: Iterable[str]) -> str:
    return f"ARRAY[{', '.join(map(literal, texts))}]::text[]"


def _step(object_: str, action: str, statement: str, condition: str) -> Step:
    return Step(literal(object_), literal(action), literal(statement), condition)


def name(identifier: str) -> str:
    return sql.Identifier(identifier).as_string(None)


def literal(text: str) -> str:
    return sql.Literal(text).as_string(None).strip()
