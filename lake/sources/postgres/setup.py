"""The SQL that prepares a PostgreSQL server for the lake, as scripts for psql.

Every statement runs only where what it makes is missing, so a script can be repeated at any time, and each is shown
before it runs. What only the running lake knows enters as the psql variable `captured`: the tables that the connector
of the database knows now, separated by commas, or nothing where it does not run. What it is to learn leaves by the file
`unread`.
"""

from collections.abc import Iterable, Iterator

from psycopg import sql

from lake.config.definition import HEARTBEAT, SIGNAL, Database, Table
from lake.rendering.connector import CAPTURE_USER
from lake.sources.postgres import publication

VERIFY_USER = "lake_verify"
REGISTRY_USER = REGISTRY_DATABASE = "registry"
USERS = (CAPTURE_USER, VERIFY_USER, REGISTRY_USER)
RDS_REPLICATION = "rds_replication"  # RDS gives nobody the attribute REPLICATION: it has a role instead
LOCK = 7163  # of all scripts, so that a deployment and the schedule wait for each other; any number will do

START = """\
\\set ON_ERROR_STOP on
\\set VERBOSITY terse
SET lock_timeout = '5s';
CREATE FUNCTION pg_temp.run(statement text) RETURNS void LANGUAGE plpgsql
AS $$ BEGIN RAISE NOTICE '%', statement; EXECUTE statement; END $$;
"""
REFUSE_OTHER_WAL = """\
DO $$ BEGIN
  IF current_setting('wal_level') <> 'logical' THEN
    RAISE EXCEPTION 'wal_level is %: set rds.logical_replication = 1 (RDS) or wal_level = logical, restart PostgreSQL',
      current_setting('wal_level');
  END IF;
END $$;"""


def server_script(databases: Iterable[str]) -> str:
    """Users without passwords, the registry's database, and those of the captured that do not exist; for `postgres`."""
    parts = [START, f"SELECT pg_advisory_lock({LOCK});"]
    parts += [_run(_create_role(user), f"to_regrole({_literal(user)}) IS NULL") for user in USERS]
    parts += [*_replication(), *_registry()]
    for database in databases:
        parts += [_create_database(database), *(_connect(database, user) for user in (CAPTURE_USER, VERIFY_USER))]
    return _script(parts)


def database_script(database: Database) -> str:
    """What makes one database capturable, in one transaction; for that database."""
    parts = ["BEGIN;", f"SELECT pg_advisory_xact_lock({LOCK});", REFUSE_OTHER_WAL]
    parts += [*_lake_tables(), *map(_identity, database.tables)]
    parts += [*_publication(database), *_rights(database)]
    parts += [_snapshots(database), *_departures(database), _waiting(database), "COMMIT;"]
    parts += [_left_unread(database)]
    return _script([START, *parts])


def _replication() -> Iterator[str]:
    user, role = _literal(CAPTURE_USER), _literal(RDS_REPLICATION)
    missing = f"oid = to_regrole({role}) AND NOT pg_has_role({user}, oid, 'MEMBER')"
    yield _run(f"GRANT {RDS_REPLICATION} TO {_name(CAPTURE_USER)}", f"EXISTS (SELECT FROM pg_roles WHERE {missing})")
    plain = f"to_regrole({role}) IS NULL AND NOT (SELECT rolreplication FROM pg_roles WHERE rolname = {user})"
    yield _run(f"ALTER ROLE {_name(CAPTURE_USER)} REPLICATION", plain)


def _registry() -> Iterator[str]:
    """An administrator who is no superuser may give a database only to a role that it can become."""
    user, missing = REGISTRY_USER, _no_database(REGISTRY_DATABASE)
    right = "CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END"
    yield _run(f"GRANT {_name(user)} TO CURRENT_USER", f"{missing} AND NOT pg_has_role({_literal(user)}, {right})")
    yield _create_database(REGISTRY_DATABASE, f" OWNER {_name(user)}")


def _create_database(name: str, owner: str = "") -> str:
    """Not by run(): CREATE DATABASE is refused inside a function."""
    return f"SELECT {_literal(f'CREATE DATABASE {_name(name)}{owner}')} WHERE {_no_database(name)} \\gexec"


def _no_database(name: str) -> str:
    return f"NOT EXISTS (SELECT FROM pg_database WHERE datname = {_literal(name)})"


def _connect(database: str, user: str) -> str:
    statement = f"GRANT CONNECT ON DATABASE {_name(database)} TO {_name(user)}"
    return _run(statement, f"NOT has_database_privilege({_literal(user)}, {_literal(database)}, 'CONNECT')")


def _lake_tables() -> Iterator[str]:
    yield _run(publication.create_schema(), "to_regnamespace('lake') IS NULL")
    for name, create in publication.LAKE_TABLES.items():
        yield _run(create(), f"to_regclass({_literal(name)}) IS NULL")


def _identity(table: Table) -> str:
    """On the relations that hold the rows: a partitioned table's partitions, or the table itself."""
    statement = f"format('ALTER TABLE %s REPLICA IDENTITY {table.replica_identity.upper()}', leaf.oid::regclass)"
    return (
        f"SELECT pg_temp.run({statement}) FROM pg_class root\n"
        "  CROSS JOIN LATERAL (SELECT relid FROM pg_partition_tree(root.oid) WHERE isleaf\n"
        "    UNION SELECT root.oid WHERE root.relkind <> 'p') rows\n"
        "  JOIN pg_class leaf ON leaf.oid = rows.relid\n"
        f"  WHERE root.oid = {_relation(table.full_name)} AND leaf.relreplident <> '{table.replica_identity[0]}';"
    )


def _publication(database: Database) -> Iterator[str]:
    name, found = database.publication, f"FROM pg_publication WHERE pubname = {_literal(database.publication)}"
    yield _run(publication.create_publication(name, []), f"NOT EXISTS (SELECT {found})")
    as_wanted = "pubviaroot AND pubinsert AND pubupdate AND pubdelete AND pubtruncate"
    yield _run(publication.set_publication_options(name), f"EXISTS (SELECT {found} AND NOT ({as_wanted}))")
    for table in [*_names(database), HEARTBEAT, SIGNAL]:
        member = f"SELECT {_members(database)} AND r.prrelid = {_relation(table)}"
        statement = publication.add_to_publication(name, table)
        yield _run(statement, f"{_relation(table)} IS NOT NULL AND NOT EXISTS ({member})")


def _rights(database: Database) -> Iterator[str]:
    capture = publication.required_rights(_names(database))
    verify = dict.fromkeys(_names(database), publication.TABLE_RIGHTS)
    for user, rights in ((CAPTURE_USER, capture), (VERIFY_USER, verify)):
        for schema in sorted({table.partition(".")[0] for table in rights}):
            lacks = f"NOT has_schema_privilege({_literal(user)}, to_regnamespace({_literal(schema)}), 'USAGE')"
            yield _run(publication.grant_usage(schema, user), lacks)
        for table, needed in rights.items():
            yield from (_grant(right, table, user) for right in needed)


def _grant(right: str, table: str, user: str) -> str:
    lacks = f"NOT has_table_privilege({_literal(user)}, {_relation(table)}, '{right}')"
    return _run(publication.grant([right], table, user), lacks)


def _snapshots(database: Database) -> str:
    """Asks the connector for the rows that a table had before it was published; once per table and epoch.

    A connector that has no slot yet reads all tables at its first start: they are only noted. The note's type is one
    that Debezium takes for a line of its log.
    """
    return (
        "INSERT INTO lake.signal (id, type, data)\n"
        "  SELECT note, CASE WHEN streams THEN 'execute-snapshot' ELSE 'log' END,\n"
        "    CASE WHEN streams THEN json_build_object('data-collections', json_build_array(name), "
        "'type', 'incremental')\n"
        "      ELSE json_build_object('message', name || ' is read by the first snapshot') END\n"
        f"  {_unread(database)} AND (NOT streams OR name = ANY (string_to_array(:'captured', ',')))\n"
        "  RETURNING type || ': ' || data;"
    )


def _left_unread(database: Database) -> str:
    """The published tables whose rows are still to be asked for, into the file that the variable `unread` names."""
    query = f"SELECT coalesce(string_agg(name, ','), '') {_unread(database)};"
    return f"\\o :unread\n{query}\n\\o"


def _unread(database: Database) -> str:
    """The published tables that no note says anything of, as the rest of a query; streams: there is a slot."""
    epochs = ", ".join(f"({_literal(table.full_name)}, {table.epoch})" for table in database.tables)
    slot = f"EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = {_literal(database.slot)})"
    member = f"SELECT format('snapshot-%s-%s', r.prrelid, epoch) AS note, {slot} AS streams"
    return (
        f"FROM (VALUES {epochs}) AS defined (name, epoch)\n"
        f"  JOIN LATERAL ({member} {_members(database)} AND r.prrelid = to_regclass(name)) found ON true\n"
        "  WHERE NOT EXISTS (SELECT FROM lake.signal WHERE id = note)"
    )


def _departures(database: Database) -> Iterator[str]:
    """A table that is no longer defined leaves once the connector has let go of it; its return is a new arrival."""
    kept = ", ".join(_literal(name) for name in [*_names(database), HEARTBEAT, SIGNAL])
    gone = (
        f"{_members(database)} AND :'captured' <> '' AND NOT "
        f"(n.nspname || '.' || c.relname) = ANY (ARRAY[{kept}] || string_to_array(:'captured', ','))"
    )
    yield (f"DELETE FROM lake.signal WHERE id LIKE ANY (ARRAY(\n  SELECT format('snapshot-%s-%%', r.prrelid) {gone}));")
    drop = f"format('ALTER PUBLICATION %I DROP TABLE %s', {_literal(database.publication)}, r.prrelid::regclass)"
    yield f"SELECT pg_temp.run({drop}) {gone};"


def _waiting(database: Database) -> str:
    names = ", ".join(map(_literal, _names(database)))
    said = "'WARNING: ' || name || ' does not exist yet; it is captured by the first run that finds it'"
    return f"SELECT {said} FROM unnest(ARRAY[{names}]) name WHERE to_regclass(name) IS NULL;"


def _members(database: Database) -> str:
    """The relations of the publication, as the rest of a query."""
    return (
        "FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid JOIN pg_class c ON c.oid = r.prrelid\n"
        f"    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE p.pubname = {_literal(database.publication)}"
    )


def _names(database: Database) -> list[str]:
    return [table.full_name for table in database.tables]


def _create_role(user: str) -> str:
    return f"CREATE ROLE {_name(user)} LOGIN"


def _run(statement: str, condition: str) -> str:
    return f"SELECT pg_temp.run({_literal(statement)})\n  WHERE {condition};"


def _relation(table: str) -> str:
    """NULL where there is no such table."""
    return f"to_regclass({_literal(table)})"


def _name(name: str) -> str:
    return sql.Identifier(name).as_string(None)


def _literal(text: str) -> str:
    return sql.Literal(text).as_string(None).strip()


def _script(parts: Iterable[str]) -> str:
    return "\n".join(parts) + "\n"
