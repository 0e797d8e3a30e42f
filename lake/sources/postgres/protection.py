"""Gives an application its updates back where a migration made them fail: its work comes before its capture.

And keeps one table from stopping the others: Debezium fails at the first change of a table whose columns differ by case
only, or have a type that bears the name of one of PostgreSQL's own, so such a table is taken out as well. A change that
comes before that stops the connector (ADR 46).

One statement per relation, for the guardian and for the pod that does its work on AWS. It takes the lock first, looks
again, and alters only what is still broken; a lock that cannot be had in a second is tried again by the next round.
"""

import logging

import psycopg

from lake.config.definition import Database
from lake.config.environment import Environment
from lake.config.naming import joined
from lake.sources.postgres import names
from lake.sources.postgres.connection import Connection, connect_source, refusal
from lake.sources.postgres.preparation import Step, literal, members, members_of, unmet, wanted
from lake.sources.postgres.relations import stoppers
from lake.sources.postgres.updatable import broken_member, broken_members

STOPPERS = stoppers("c.oid")
PUBLICATION = ":publication"  # stands for it until all percent signs are doubled
STOPS = "the connector would stop at its columns"

LOG = logging.getLogger("guardian")
LOCK_TIMEOUT = "1s"
WHY = (
    "CASE WHEN l.relreplident = 'f' THEN 'FULL has a generated column that is not published'"
    " ELSE 'it has no usable replica identity' END"
)
PART = "CASE WHEN l.oid <> c.oid THEN format(' (of partition %I.%I)', ln.nspname, l.relname) ELSE '' END"
# Arguments of format(): 1 and 2 the member, 3 and 4 the relation, 5 its oid, 6 the member's oid, 7 the identity that
# cures it, 8 why its updates failed, 9 the publication: the rest is the same in all databases. A member that comes back
# is read again: its note of that goes, too.
TAKE_OUT = """
  SET LOCAL lock_timeout = '{timeout}';
  LOCK TABLE ONLY %1$I.%2$I, ONLY %3$I.%4$I IN SHARE UPDATE EXCLUSIVE MODE;
  IF EXISTS ({still}) THEN
    IF to_regclass('lake.signal') IS NOT NULL THEN
      DELETE FROM lake.signal WHERE id LIKE 'snapshot-%6$s-%%';
    END IF;
    ALTER PUBLICATION %9$I DROP TABLE ONLY %1$I.%2$I;
    RAISE WARNING 'was taken out of the publication, because {because}: %%', %8$L
      USING SCHEMA = %1$L, TABLE = %2$L;
  END IF;"""
SWITCH = """
  SET LOCAL lock_timeout = '{timeout}';
  LOCK TABLE ONLY %3$I.%4$I IN ACCESS EXCLUSIVE MODE;
  IF EXISTS ({still}) THEN
    ALTER TABLE ONLY %3$I.%4$I REPLICA IDENTITY %7$s;
    RAISE WARNING 'has replica identity %7$s now, because its updates failed: %%', %8$L
      USING SCHEMA = %1$L, TABLE = %2$L;
  END IF;
EXCEPTION WHEN lock_not_available OR insufficient_privilege THEN"""


def protect(environment: Environment, database: Database) -> dict[str, str]:
    """Cures what is broken now. What was done, by table."""
    done: dict[str, str] = {}
    with connect_source(environment, database) as connection:
        connection.autocommit = True  # one that cannot be cured yet does not hold up the others
        connection.add_notice_handler(lambda said: done.update(_told(said)))
        for change in unmet(connection, database.database, acts(database)):
            _cure_one(connection, change.detail)
    return done


def _told(said: psycopg.errors.Diagnostic) -> dict[str, str]:
    """What was done, by the name of the table as a definition has it; {} for a notice about no table."""
    if not (said.schema_name and said.table_name):
        return {}
    return {joined(said.schema_name, said.table_name): said.message_primary or ""}


def _cure_one(connection: Connection, statement: str) -> None:
    try:
        connection.execute(statement.encode())
    except psycopg.Error as error:
        LOG.warning("updates of a table fail, and the next round tries again: %s", refusal(error))


def acts(database: Database) -> list[Step]:
    """All that is done now. Nothing differs between databases but what psql has variables for (script)."""
    return [cures(database), partings(database)]


def cures(database: Database) -> Step:
    """The statements that cure what is broken now; each confirms it, and warns of what it did."""
    publication = literal(names.publication(database))
    return Step(
        "n.nspname || '.' || c.relname",
        "coalesce('replica identity ' || cure, 'take out of the publication')",
        f"format(CASE WHEN cure IS NULL THEN {literal(_block())}\n"
        f"    ELSE {literal(_block(SWITCH))} END,\n"
        f"    n.nspname, c.relname, ln.nspname, l.relname, l.oid, c.oid, cure, {WHY} || {PART}, {publication})",
        "false",
        f"{broken_members(publication)}\n"
        f"  LEFT JOIN {wanted(database)} ON wanted.schema_name = n.nspname AND wanted.table_name = c.relname\n"
        f"  CROSS JOIN LATERAL (SELECT {_identity()} AS cure) cured",
    )


def partings(database: Database) -> Step:
    """The statements that take out tables at which Debezium would fail."""
    publication = literal(names.publication(database))
    still = _still(f"{members_of(PUBLICATION)} WHERE EXISTS ({STOPPERS}) AND c.oid")
    columns = f"(SELECT string_agg(why, ', ') FROM ({STOPPERS}) stoppers)"
    return Step(
        "n.nspname || '.' || c.relname",
        "'take out of the publication'",
        f"format({literal(_do(_take_out(still, STOPS)))}, n.nspname, c.relname, n.nspname, c.relname, c.oid, c.oid,\n"
        f"    NULL, {columns}, {publication})",
        f"NOT EXISTS ({STOPPERS})",
        members(database),
    )


def _identity() -> str:
    """The identity under which a table of the definition can be updated; NULL without one."""
    return (
        f"CASE WHEN wanted.identity = 'FULL' AND NOT {broken_member('l.oid', literal('f'))} THEN 'FULL'"
        f" WHEN wanted.name IS NOT NULL AND NOT {broken_member('l.oid', literal('d'))} THEN 'DEFAULT' END"
    )


def _block(first: str = "") -> str:
    still = _still(f"{broken_members(PUBLICATION)} AND l.oid")
    return _do(first.format(timeout=LOCK_TIMEOUT, still=still) + _take_out(still, "its updates failed"))


def _still(found: str) -> str:
    """The query that confirms it for one relation, of whose oid the FROM clause ends."""
    return f"SELECT {found}".replace("%", "%%").replace(PUBLICATION, "%9$L") + " = %5$s"


def _take_out(still: str, because: str) -> str:
    """still: the query that confirms it."""
    return TAKE_OUT.format(timeout=LOCK_TIMEOUT, still=still, because=because)


def _do(block: str) -> str:
    return f"DO $lake$ BEGIN{block}\nEND $lake$"
