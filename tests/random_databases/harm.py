"""What a capture does to the application, on PostgreSQL alone: the source is prepared, and a random database goes on.

The guardian looks after each statement that PostgreSQL refuses. What works then was broken by a migration for a while;
what does not is harm.
"""

from collections.abc import Iterator

import psycopg
from pydantic import ValidationError

from lake.config.definition import Database
from lake.config.environment import Environment
from lake.sources.postgres import catalog, checks, protection
from lake.sources.postgres.preparation import carry_out, database_steps, server_steps
from tests.random_databases.database import RandomDatabase, run
from tests.random_databases.quoting import full_name
from tests.random_databases.settings import WRITER

RELATIONS = """
SELECT n.nspname, c.relname, ARRAY(
    SELECT a.attname::text FROM pg_constraint k CROSS JOIN unnest(k.conkey) WITH ORDINALITY u (attnum, n)
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.attnum
    WHERE k.conrelid = c.oid AND k.contype = 'p' ORDER BY u.n)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND n.nspname !~ '^pg_' AND n.nspname NOT IN ('information_schema', 'lake') ORDER BY 1, 2
"""


def harm(home: Environment, one: RandomDatabase) -> list[str]:
    """What PostgreSQL refuses to the application, although the guardian has looked."""
    one.create(home.dsn("postgres"))
    run(home.dsn(one.name), one.first)
    captured = capture(home, one)
    return [refused for step in one.steps for refused in _refused(home, one, captured, step)] if captured else []


def capture(home: Environment, one: RandomDatabase) -> Database | None:
    """Prepares the source for all tables that the plan does not refuse; None where it refuses all."""
    tables = dict(_capturable(home, one))
    if not tables:
        return None
    defined = Database.model_validate({"database": one.name, "tables": tables})
    with psycopg.connect(home.dsn(one.name), autocommit=True, options=WRITER) as connection:
        carry_out(connection, [*server_steps([one.name]), *database_steps(defined)])
    return defined


def _capturable(home: Environment, one: RandomDatabase) -> Iterator[tuple[str, dict[str, list[str]]]]:
    with psycopg.connect(home.dsn(one.name), options=WRITER) as connection:
        relations = connection.execute(RELATIONS).fetchall()
    for schema, table, key in relations:
        try:
            alone = Database.model_validate({"database": one.name, "tables": {full_name(schema, table): {"key": key}}})
        except ValidationError:
            continue
        if not checks.findings(alone, catalog.read_source(home, alone).catalog, 1):
            yield full_name(schema, table), {"key": key}


def _refused(home: Environment, one: RandomDatabase, captured: Database, step: list[str]) -> Iterator[str]:
    for transaction in step:
        try:
            run(home.dsn(one.name), [transaction])
        except psycopg.Error:
            protection.protect(home, captured)
            yield from _again(home, one, transaction)


def _again(home: Environment, one: RandomDatabase, transaction: str) -> Iterator[str]:
    try:
        run(home.dsn(one.name), [transaction])
    except psycopg.Error as error:
        yield f"{str(error).splitlines()[0]}: {transaction[:200]}"
