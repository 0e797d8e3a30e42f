"""The golden tables: every type with its edges arrives in the lake as PostgreSQL has it, snapshot and stream."""

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from tenacity import retry, stop_after_delay, wait_fixed

from lake.local.home import Home
from tests.running_lake import RunningLake

pytestmark = pytest.mark.integration
NAME = "golden"
GOLDEN = ("golden_types", "golden_defaults", "golden_generated")
UNFIT = {
    "unfit_numeric": "column price holds NAN, which DECIMAL(10,2) cannot hold",
    "unfit_array": "column grid holds an array of several dimensions",
    "unfit_timestamp": "which TIMESTAMP cannot hold",
}


@pytest.fixture(scope="module")
def golden(lake: RunningLake) -> Home:
    with psycopg.connect(lake.home.dsn(), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(NAME)))
    lake.execute(NAME, Path(__file__).with_name("golden_types.sql").read_text(encoding="utf-8"))
    lake.define(NAME, {f"public.{name}": {"key": ["id"]} for name in (*GOLDEN, *UNFIT)})
    lake.apply()
    return lake.home


def verified(lake: RunningLake) -> dict[str, Any]:
    result = lake.run("verify", "--json", *(f"{NAME}.{name}" for name in GOLDEN), check=False)
    assert result.stdout, result.stderr
    return dict(json.loads(result.stdout)["tables"])


def assert_equal(tables: dict[str, Any]) -> None:
    faults = {name: table["differences"] or table["unsettled"] for name, table in tables.items() if not table["equal"]}
    assert not faults, json.dumps(faults, indent=1, ensure_ascii=False)


def test_every_type_arrives_from_the_snapshot(lake: RunningLake, golden: Home) -> None:
    assert_equal(verified(lake))


def test_every_type_arrives_from_the_stream(lake: RunningLake, golden: Home) -> None:
    lake.execute(
        NAME,
        "UPDATE public.golden_types SET id = id + 100",
        "UPDATE public.golden_defaults SET id = id + 100",
        "UPDATE public.golden_generated SET price = price + 1, flag = NOT flag",
    )
    tables = verified(lake)
    assert_equal(tables)
    assert tables[f"{NAME}.public.golden_types"]["deleted"]["rt"] > 0


@pytest.mark.parametrize("table", UNFIT)
def test_a_value_that_fits_nowhere_stops_its_table_and_says_so(golden: Home, table: str) -> None:
    assert UNFIT[table] in reason(golden, table)


@retry(stop=stop_after_delay(60), wait=wait_fixed(0.5), reraise=True)
def reason(home: Home, table: str) -> str:
    tables = json.loads((home.data / "status.json").read_text(encoding="utf-8"))["tables"]
    found = tables[f"{NAME}_cow.{table}"]["reason"]
    assert found
    return str(found)
