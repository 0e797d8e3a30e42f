"""Takes out of a PostgreSQL database what the lake put there, and gives back the replica identities of before."""

import json
from collections.abc import Mapping
from pathlib import Path

from lake.config.definition import Database
from lake.config.environment import Environment
from lake.config.errors import BadInput
from lake.config.files import read_json, replace_json
from lake.sources.postgres import names
from lake.sources.postgres.connection import Connection, connect_source
from lake.sources.postgres.preparation import LAKE_TABLES, name, rows_of
from lake.sources.postgres.relations import leaves
from lake.sources.postgres.roles import CAPTURE, VERIFY

FOLDER = "guardian/identities"
IDENTITIES = f"""
SELECT c.oid::text, CASE c.relreplident WHEN 'd' THEN 'DEFAULT' WHEN 'n' THEN 'NOTHING' WHEN 'f' THEN 'FULL'
  ELSE format('USING INDEX %%I', (SELECT i.indexrelid::regclass FROM pg_index i WHERE i.indrelid = c.oid
    AND i.indisreplident)) END
FROM unnest(%(names)s::text[]) name CROSS JOIN LATERAL ({leaves("to_regclass(name)")}) leaf
JOIN pg_class c USING (oid)
"""
# An identity that somebody changed since is left alone.
GIVE_BACK = """
SELECT format('ALTER TABLE ONLY %%I.%%I REPLICA IDENTITY %%s', n.nspname, c.relname, before.identity)
FROM jsonb_each_text(%(before)s::jsonb) AS before (oid, identity)
JOIN pg_class c ON c.oid = before.oid::oid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid IN (SELECT leaf.oid FROM unnest(%(names)s::text[]) name,
  LATERAL ({leaves}) leaf) AND NOT (c.relreplident = 'd' AND before.identity = 'DEFAULT')
ORDER BY 1
""".replace("{leaves}", leaves("to_regclass(name)"))
MEMBERS = """
SELECT format('ALTER PUBLICATION %%I DROP TABLE ONLY %%I.%%I', p.pubname, n.nspname, c.relname)
FROM unnest(%(names)s::text[]) name JOIN pg_class c ON c.oid = to_regclass(name)
JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_publication_rel r ON r.prrelid = c.oid
JOIN pg_publication p ON p.oid = r.prpubid AND p.pubname = %(publication)s ORDER BY 1
"""
GRANTED = f"""
SELECT format('REVOKE SELECT ON %%I.%%I FROM %%I', n.nspname, c.relname, role)
FROM unnest(%(names)s::text[]) name JOIN pg_class c ON c.oid = to_regclass(name)
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN unnest(ARRAY['{CAPTURE}', '{VERIFY}']) role ON to_regrole(role) IS NOT NULL ORDER BY 1
"""


def note_identities(environment: Environment, database: Database) -> None:
    """Keeps the replica identities of relations that the lake has not seen before: an apply changes them next."""
    with connect_source(environment, database) as connection:
        found = dict(connection.execute(IDENTITIES.encode(), {"names": list(database.by_name)}).fetchall())
    before = _noted(environment, database)
    if found.keys() - before.keys():
        replace_json(_path(environment, database), {**found, **before})


def is_there(environment: Environment, database: Database) -> bool:
    """False if the database was dropped: nothing is left to take out."""
    try:
        with connect_source(environment, database):
            return True
    except BadInput as problem:
        if "there is no database" in problem.what:
            return False
        raise


def statements(environment: Environment, database: Database, whole: bool) -> list[str]:
    """For the tables of the database; whole: nothing of it is captured any more."""
    before = json.dumps(_noted(environment, database))
    values = {"names": list(database.by_name), "before": before, "publication": names.publication(database)}
    with connect_source(environment, database) as connection:
        connection.read_only = True
        published = _published(database) if whole else _listed(connection, MEMBERS, values)
        listed = [*published, *_listed(connection, GIVE_BACK, values)]
        return [*listed, *_listed(connection, GRANTED, values), *(_objects(connection) if whole else [])]


def _published(database: Database) -> list[str]:
    return [f"DROP PUBLICATION IF EXISTS {name(names.publication(database))}"]


def _objects(connection: Connection) -> list[str]:
    """The schema goes with the last of its tables: another one in it is not ours."""
    found = connection.execute(
        "SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace('lake') AND relkind IN ('r', 'v', 'p')"
        f" AND oid NOT IN (SELECT to_regclass(one)::oid FROM {rows_of(LAKE_TABLES)} one"
        " WHERE to_regclass(one) IS NOT NULL)".encode()
    ).fetchone()
    tables = [f"DROP TABLE IF EXISTS {table}" for table in LAKE_TABLES]
    return [*tables, *(["DROP SCHEMA IF EXISTS lake"] if found == (0,) else [])]


def _listed(connection: Connection, query: str, values: Mapping[str, object]) -> list[str]:
    return [str(row[0]) for row in connection.execute(query.encode(), values)]


def _noted(environment: Environment, database: Database) -> dict[str, str]:
    return read_json(_path(environment, database)) or {}


def _path(environment: Environment, database: Database) -> Path:
    return environment.data / FOLDER / f"{database.database}.json"
