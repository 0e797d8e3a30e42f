"""The database of an ORM, 200 tables with mixed-case names in five schemas, is in the lake after one command."""

import pytest

from benchmarks import orm_database
from tests.running_lake import RunningLake

pytestmark = [pytest.mark.integration, pytest.mark.slow]


def test_200_tables_are_captured_by_one_command_and_equal(lake: RunningLake) -> None:
    lake.databases.mkdir(exist_ok=True)
    lake.execute("postgres", "CREATE DATABASE orm")
    lake.execute("orm", *orm_database.statements())
    try:
        lake.run("init", "orm", "--yes", "--apply")
        lake.execute("orm", *(table.change for table in orm_database.busy(20)))
        lake.drain("orm")
        found = lake.json("verify", "orm")
        different = [name for name, one in found["tables"].items() if not one["equal"]]
        assert (len(found["tables"]), different) == (200, [])
    finally:
        lake.forget("orm")
