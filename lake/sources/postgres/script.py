"""The preparation of a PostgreSQL server as scripts for psql, which a pod runs where no command line is.

A script can be repeated at any time, and shows each statement before it runs. The psql variable `captured` lists the
tables that the running connector of the database knows, separated by commas; it is empty if no connector runs. The
script writes the tables that the connector must still read into the file `unread`. With the variable `guard` the
script of a database does only what the guardian does: it gives the application its updates back. What the scripts of
all databases say is in one script, which they include: Lambda takes 256 KB for all together (AWS).
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from lake.config.definition import Database, Table
from lake.sources.postgres import names, preparation, protection, session
from lake.sources.postgres.limit import SET_LIMIT, UNLIMITED
from lake.sources.postgres.preparation import LOCK_TIMEOUT, Step, literal, members
from lake.sources.postgres.relations import TABLE, leaves, parts, selector, selector_of, signalled

LOCK = 7163  # any number; the same in all scripts, so that a deployment and the schedule wait for each other
# shown: psql runs both columns of each row, one after the other.
SETTINGS = "\n".join(f"SET {name} = {literal(text)};" for name, text in session.SETTINGS.items())
START = f"""\
\\set ON_ERROR_STOP on
\\set VERBOSITY terse
\\set shown 'format(''DO %L'', format(''BEGIN RAISE NOTICE ''''%%'''', %L; END'', statement)), statement'
{SETTINGS}
{session.NO_TIMEOUT} \\g /dev/null
SET lock_timeout = '{LOCK_TIMEOUT}';
"""
REFUSE_OTHER_WAL = """\
DO $$ BEGIN
  IF current_setting('wal_level') <> 'logical' THEN
    RAISE EXCEPTION 'wal_level is %: set rds.logical_replication = 1 (RDS) or wal_level = logical, restart PostgreSQL',
      current_setting('wal_level');
  END IF;
END $$;"""
WARN_OF_LOG = f"""\
DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_settings WHERE name = 'max_slot_wal_keep_size' AND setting = '-1') THEN
    RAISE WARNING '%', {literal(f"{UNLIMITED}: {SET_LIMIT}")};
  END IF;
END $$;"""
SHARED = {"leaves": leaves(TABLE), "identity": preparation.identity_of(), "by_key": preparation.BY_KEY}


def scripts(databases: list[Database]) -> dict[str, Any]:
    """What psql runs in the database `postgres` to prepare the server, and each of its databases.

    databases: by the beginning of their topics, which can be the name of a file. Each script connects to its database.
    """
    return {
        "server": server_script(one.database for one in databases),
        "databases": {one.topic_prefix: database_script(one) for one in databases},
        "shared": shared_script(databases),
    }


def server_script(databases: Iterable[str]) -> str:
    """For the database `postgres`; outside of a transaction, as CREATE DATABASE must be."""
    steps = map(_carried_out, preparation.server_steps(databases))
    return "\n".join([START, f"SELECT pg_advisory_lock({LOCK});", *steps, ""])


def database_script(database: Database) -> str:
    """For the database, in one transaction."""
    waiting = "'WARNING: ' || name || ' does not exist yet; it is captured by the first run that finds it'"
    steps = [
        *("\\ir ../shared.sql", "\\if :{?guard}", "\\quit", "\\endif"),
        *("BEGIN;", f"SELECT pg_advisory_xact_lock({LOCK});", REFUSE_OTHER_WAL, WARN_OF_LOG),
        *(*map(_carried_out, preparation.database_steps(database)), _snapshots(database), *_departures(database)),
        f"SELECT {waiting} FROM {preparation.named(database.by_name)} WHERE {TABLE} IS NULL;",
        "COMMIT;",
        # The published tables whose rows are still to be requested, into the file that the variable names.
        "\\o :unread",
        f"SELECT coalesce(string_agg(selector, ','), '') {_unread(database)};",
        "\\o\n",
    ]
    own = variables(database)
    return "\n".join([_connect(database.database), _set(own), _by_name("\n".join(steps), {**own, **SHARED})])


def shared_script(databases: list[Database]) -> str:
    """For the beginning of each script. A table that cannot be cured now does not hold up the others."""
    guardian = [_by_name(act.unmet, variables(one)) for one in databases[:1] for act in protection.acts(one)]
    cured = [f"SELECT statement FROM ({unmet}) unmet \\gexec" for unmet in guardian]
    return "\n".join([START + _set(SHARED), "\\if :{?guard}", "\\set ON_ERROR_STOP off", *cured, "\\endif\n"])


def variables(database: Database) -> dict[str, str]:
    """What the scripts say of one database, by the name of a variable of psql."""
    return {
        "wanted": preparation.wanted(database),
        "published": preparation.lists(*parts(preparation.published(database)).values()),
        "defined": preparation.lists(*parts(database.by_name).values()),
        "tables": ", ".join(map(_defined, database.tables)),
        "publication": literal(names.publication(database)),
    }


def _by_name(script: str, known: dict[str, str]) -> str:
    """The script with the variables in place of their texts, except within a text: psql leaves those as they are."""
    for name, text in known.items():
        script = re.sub(rf"(?<!'){re.escape(text)}(?!')", f":{name}", script)
    return script


def _set(known: dict[str, str]) -> str:
    """A line for each variable. psql also expands what is within a variable."""
    lines = []
    for name, text in known.items():
        shorter = _by_name(text, {other: known[other] for other in known if other != name})
        quoted = shorter.replace("\\", r"\\").replace("'", "''").replace("\n", " ")
        lines.append(f"\\set {name} '{quoted}'")
    return "\n".join(lines)


def _connect(database: str) -> str:
    """With the login that psql has. As libpq's keywords: a name with = in it would be taken for them."""
    name = database.replace("\\", r"\\").replace("'", r"\'").replace('"', '""')
    return f"\\set ON_ERROR_STOP on\n\\connect -reuse-previous=on \"dbname='{name}'\""


def _carried_out(step: Step) -> str:
    return f"SELECT :shown FROM ({step.unmet}) unmet \\gexec"


def _snapshots(database: Database) -> str:
    """Requests the rows that a table had before it was published; once per table and epoch.

    A connector that has no slot yet reads all tables at its first start: they only get a note. Debezium
    writes a note of this type to its log.
    """
    return (
        "INSERT INTO lake.signal (id, type, data)\n"
        "  SELECT note, CASE WHEN streams THEN 'execute-snapshot' ELSE 'log' END,\n"
        "    CASE WHEN streams THEN json_build_object('data-collections', json_build_array(signalled), "
        "'type', 'incremental')\n"
        "      ELSE json_build_object('message', name || ' is read by the first snapshot') END\n"
        f"  {_unread(database)} AND (NOT streams OR {_is_read('selector', 'name')})\n"
        "  RETURNING type || ': ' || data;"
    )


def _unread(database: Database) -> str:
    """The published tables without a note, as the end of a query; streams: the slot exists."""
    tables = ", ".join(map(_defined, database.tables))
    slot = f"EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = {literal(names.slot(database))})"
    member = f"SELECT format('snapshot-%s-%s', r.prrelid, epoch) AS note, {slot} AS streams"
    return (
        f"FROM (VALUES {tables}) AS defined (name, schema_name, table_name, selector, signalled, epoch)\n"
        f"  JOIN LATERAL ({member} {members(database)} AND r.prrelid = {TABLE}) found ON true\n"
        "  WHERE NOT EXISTS (SELECT FROM lake.signal WHERE id = note)"
    )


def _defined(table: Table) -> str:
    texts = [table.full_name, table.schema, table.name, selector(table.full_name), signalled(table.full_name)]
    return f"({', '.join(map(literal, texts))}, {table.epoch})"


def _is_read(pattern: str, name: str) -> str:
    """True if the connector reads a table. name: how older versions named it in the connector's list."""
    return f"({pattern} = ANY (string_to_array(:'captured', ',')) OR {name} = ANY (string_to_array(:'captured', ',')))"


def _departures(database: Database) -> list[str]:
    """A table that is no longer defined leaves once the connector does not read it; if it returns, it is new."""
    step = preparation.departures(database)
    read = _is_read(selector_of("n.nspname", "c.relname"), preparation.MEMBER)
    leaving = replace(step, condition=f"{step.condition} OR :'captured' = '' OR {read}")
    notes = f"SELECT format('snapshot-%s-%%', r.prrelid) {step.each} WHERE ({leaving.condition}) IS NOT TRUE"
    return [f"DELETE FROM lake.signal WHERE id LIKE ANY (ARRAY(\n  {notes}));", _carried_out(leaving)]
