"""The golden tables: every type with its edges arrives in the lake as PostgreSQL has it, snapshot and stream."""

import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from tenacity import retry, stop_after_delay, wait_fixed

from lake.clients.stream_status import wait_for_snapshots
from lake.config.environment import Environment
from lake.sources.postgres.roles import CAPTURE, VERIFY
from tests.clocks import HANG_S, until
from tests.running_lake import RunningLake

pytestmark = pytest.mark.integration
NAME = "golden"
GOLDEN = ("golden_types", "golden_defaults", "golden_texts", "golden_generated")
UNFIT = {
    "unfit_numeric": "column price holds a value that DECIMAL(10,2) cannot hold",
    "unfit_array": "column grid holds an array of several dimensions",
    "unfit_timestamp": "a value that TIMESTAMP cannot hold",
}
# What sessions would write, or whether they end, if they did not have settings of their own.
UNUSUAL = {
    "bytea_output": "'escape'",
    "IntervalStyle": "'sql_standard'",
    "extra_float_digits": "-10",
    "lc_monetary": "'C'",
    "quote_all_identifiers": "on",
    "search_path": "public, pg_catalog",  # what is in public shadows what is built in
    "DateStyle": "'German'",
    "TimeZone": "'Asia/Kolkata'",
    "statement_timeout": "'2s'",
    "lock_timeout": "'2s'",
    "idle_session_timeout": "'2s'",
    "idle_in_transaction_session_timeout": "'2s'",
}
GENERATED = (
    "INSERT INTO golden_generated DEFAULT VALUES",
    "INSERT INTO golden_generated (state, states, raw, parts, span)"
    " SELECT state, states, raw, parts, span FROM golden_generated WHERE id = 2",
    "UPDATE golden_generated SET price = price + 1, flag = NOT flag WHERE id = 2",
)


@pytest.fixture(scope="module")
def golden(lake: RunningLake) -> Iterator[Environment]:
    with psycopg.connect(lake.home.dsn(), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(NAME)))
    lake.execute(NAME, *(f"ALTER DATABASE {NAME} SET {name} = {value}" for name, value in UNUSUAL.items()))
    strongest = [f"ALTER ROLE {role} IN DATABASE {NAME}" for role in (CAPTURE, VERIFY)]  # of all that a server holds
    unusual = {**UNUSUAL, "default_transaction_read_only": "on"}
    lake.execute(NAME, *(f"{one} SET {name} = {value}" for one in strongest for name, value in unusual.items()))
    lake.execute(NAME, Path(__file__).with_name("golden_types.sql").read_text(encoding="utf-8"))
    lake.execute(NAME, "CREATE TABLE golden_copies AS SELECT * FROM golden_types")
    unfit = {f"public.{name}": {"key": ["id"], "types": ["cow"]} for name in UNFIT}
    copies = {"public.golden_copies": {"without_key": "multiset"}}
    lake.define(NAME, {**{f"public.{name}": {"key": ["id"]} for name in GOLDEN}, **copies, **unfit})
    lake.apply()
    yield lake.home
    lake.forget(NAME)


def test_every_type_arrives_from_the_snapshot_and_from_the_stream(lake: RunningLake, golden: Environment) -> None:
    """One proof of both: the rows of the stream are copies, under other keys, of those that the snapshot read.

    Of golden_copies each row ends that the snapshot read: the stream says its content as the snapshot did.
    """
    wait_for_snapshots(golden, [one for one in lake.definitions() if one.database == NAME], lambda line: None)
    lake.execute(NAME, *streamed("golden_types"), *streamed("golden_defaults"), *streamed("golden_texts"), *GENERATED)
    lake.execute(NAME, "UPDATE golden_copies SET id = id + 100", "DELETE FROM golden_copies WHERE id < 110")
    named = [f"{NAME}.{name}" for name in (*GOLDEN, "golden_copies")]
    result = lake.run("verify", "--json", "--timeout", str(int(HANG_S)), *named, check=False)
    assert result.stdout, result.stderr
    tables = json.loads(result.stdout)["tables"]
    faults = {name: table["differences"] or table["unsettled"] for name, table in tables.items() if not table["equal"]}
    assert not faults, json.dumps(faults, indent=1, ensure_ascii=False)
    golden_types = tables[f"{NAME}.public.golden_types"]
    assert golden_types["deleted"]["rt"] == golden_types["rows"]["source"] // 2
    copies = tables[f"{NAME}.public.golden_copies"]
    assert copies["deleted"]["rt"] == 9 + golden_types["rows"]["source"] // 2


def test_a_session_that_may_only_read_by_default_writes_its_heartbeat(lake: RunningLake, golden: Environment) -> None:
    with psycopg.connect(golden.dsn(NAME), autocommit=True) as connection:
        query = "SELECT xmin::text FROM lake.heartbeat"
        before = connection.execute(query).fetchall()
        until(lambda: connection.execute(query).fetchall() != before, "no heartbeat")


def streamed(table: str) -> list[str]:
    """Every row once more by inserts; their keys then change, which deletes each with all its values."""
    return [
        f"CREATE TEMP TABLE again AS SELECT * FROM {table}",
        "UPDATE again SET id = id + 100",
        f"INSERT INTO {table} SELECT * FROM again",
        f"UPDATE {table} SET id = id + 100 WHERE id > 100",
        "DROP TABLE again",
    ]


@pytest.mark.parametrize("table", UNFIT)
def test_a_value_that_fits_nowhere_stops_its_table_and_says_so(golden: Environment, table: str) -> None:
    assert UNFIT[table] in reason(golden, table)


@retry(stop=stop_after_delay(60), wait=wait_fixed(0.5), reraise=True)
def reason(home: Environment, table: str) -> str:
    tables = json.loads((home.data / "status.json").read_text(encoding="utf-8"))["tables"]
    found = tables[f"{NAME}_cow.{table}"]["reason"]
    assert found
    return str(found)
