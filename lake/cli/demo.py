"""`lake demo`: real rows flow from PostgreSQL to Hudi tables, change, are queried as of earlier, and are validated."""

import json
import time

from lake.cli import options
from lake.cli.parity_output import show
from lake.clients import stream_status
from lake.config.definition import Database, load_databases
from lake.config.environment import Environment, load_environment
from lake.config.errors import LakeError
from lake.config.report import silent
from lake.local.parity import compare
from lake.local.spark_job import objects, run_job
from lake.local.stack import Stack
from lake.plan.run import apply_all
from lake.samples import moma
from lake.sources.postgres.connection import connect_server

CHANGES = (  # with the table that each of them changes
    ("artists", "UPDATE artists SET birth_year = 1907 WHERE artist_id = 299"),
    ("artists", "UPDATE artists SET death_year = 1989 WHERE artist_id = 299"),
    ("artists", "UPDATE artists SET name = 'Gerhard M. Bakker' WHERE artist_id = 299"),
    ("artists", "UPDATE artists SET nationality = 'German' WHERE artist_id = 299"),
    ("artists", "DELETE FROM artists WHERE artist_id = 441"),
    ("departments", "UPDATE departments SET works = 90 WHERE department = 'Film'"),
    ("departments", "DELETE FROM departments WHERE department = 'Fluxus Collection'"),
)
# Restore the rows of the collection, so that the demo can run again; loading brings the deleted ones back.
UNDO = (
    "UPDATE artists SET name = 'Gerhard H. Bakker', nationality = 'American', birth_year = 1906, death_year = 1988 "
    "WHERE artist_id = 299",
    "UPDATE departments SET works = 89 WHERE department = 'Film'",
)
ROW = (
    "select artist_id, name, nationality, birth_year, death_year, __op, __deleted, _hoodie_commit_time "
    "from {} where artist_id in (299, 441)"
)


def demo() -> None:
    """Run the whole pipeline once, on real rows, and validate the result.

    Starts the services, loads the MoMA collection, captures it, writes the Hudi tables, changes rows,
    shows when they arrive, queries the rows as they were before, and compares every row with PostgreSQL.
    Safe to run again. The lake stays up: stop it with lake down.

    Example: lake demo
    """
    began = time.monotonic()
    home = load_environment()
    databases = [database for database in load_databases(home.root) if database.database == moma.DATABASE]
    _start(home)
    _fill(home, databases)
    before = _change(home, databases)
    _travel(home, before)
    _prove(home)
    options.out.print(
        f"\n[bold]Done in {time.monotonic() - began:.0f} s.[/] "
        "Look around: lake sql, lake status --watch. Stop: lake down"
    )


def _title(text: str) -> None:
    options.out.print(f"\n[bold cyan]== {text}[/]")


def _start(home: Environment) -> None:
    _title("1. Start PostgreSQL, Kafka, Connect, registry, S3, Hive metastore")
    Stack(home, options.say_step).up()


def _fill(home: Environment, databases: list[Database]) -> None:
    _title("2. Load the MoMA collection, capture it, write the Hudi tables")
    for table, (added, present) in moma.load(home).items():
        options.out.print(f"{table}: {present} rows ({added} new)")
    for statement in UNDO:
        _execute(home, statement)
    apply_all(home.name, report=options.out.print).demand(moma.DATABASE)
    _await(home, databases)


def _execute(home: Environment, statement: str) -> None:
    with connect_server(home, None, moma.DATABASE) as connection:
        connection.execute(statement)


def _await(home: Environment, databases: list[Database]) -> None:
    with options.progress("waiting for the lake") as report:
        stream_status.wait_for_lake(home, databases, report)
    options.out.print("every table holds every row")


def _change(home: Environment, databases: list[Database]) -> str:
    """Commits each change on its own; returns the source position before the first."""
    _title("3. Change rows in PostgreSQL and watch them arrive")
    before = stream_status.source_position(home, databases[0])
    for table, statement in CHANGES:
        _execute(home, statement)
        stream_status.wait_for_lake(home, databases, silent)
        options.out.print(f"{statement}\n    [dim]queryable after:[/] {_lags(home, databases[0], table)}")
    return before


def _lags(home: Environment, database: Database, table: str) -> str:
    facts = stream_status.reported(home)
    names = [name for name in database.hudi_tables if name.partition(".")[2] == table]
    return ", ".join(f"{name} {facts[name]['last_lag_ms'] / 1000:.1f} s" for name in names)


def _travel(home: Environment, before: str) -> None:
    _title("4. Read the rows now, and as they were")
    for words, moment in (("now", []), (f"as of LSN {before}", ["--as-of", before])):
        options.out.print(f"[bold]{words}[/]")
        content = run_job(home, "query", ["--sql", ROW.format("moma_mor.artists_rt"), *moment])
        for row in objects(content):
            options.out.print("   ", json.dumps(row, ensure_ascii=False), markup=False)


def _prove(home: Environment) -> None:
    _title("5. Prove that the lake equals its source, all columns of all rows")
    with options.progress("checking the connectors") as report:
        result = compare(home, [moma.DATABASE], 180, report)
    show(result)
    if not result["equal"]:
        raise LakeError("the lake differs from its source", moma.DATABASE, "see the differences above")
