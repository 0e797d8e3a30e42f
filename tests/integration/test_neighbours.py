"""What one table or the application does stops no other table, and there is a way past what stops the connector."""

from collections.abc import Iterator

import psycopg
import pytest

from lake.config.errors import LakeError
from lake.config.waiting import wait_until
from tests.clocks import HANG_S
from tests.running_lake import RunningLake

pytestmark = pytest.mark.integration
NAME = "neighbours"
CONNECTOR = f"source_postgres_{NAME}"


@pytest.fixture(scope="module")
def captured(lake: RunningLake) -> Iterator[RunningLake]:
    with psycopg.connect(lake.home.dsn(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {NAME}")
    for table in ("calm", "broken"):
        lake.execute(NAME, f"CREATE TABLE {table} (id int PRIMARY KEY, v text)")
        lake.execute(NAME, f"INSERT INTO {table} SELECT i, 'first' FROM generate_series(1, 3) i")
    lake.define(NAME, {f"public.{table}": {"key": ["id"], "types": ["mor"]} for table in ("calm", "broken")})
    lake.apply()
    lake.drain(NAME)
    yield lake
    lake.forget(NAME)


def test_a_message_of_the_application_is_passed_over(captured: RunningLake) -> None:
    """K2, 4."""
    emit = "SELECT pg_logical_emit_message({}, E'{}', repeat('x', {}))"
    for prefix, size in {"": 1, "app": 2_000_000, "two\\nlines": 1}.items():
        captured.execute(NAME, *(emit.format(how, prefix, size) for how in ("false", "true")))
    captured.execute(NAME, "UPDATE calm SET v = 'after the messages' WHERE id = 3")
    captured.drain(NAME)


def tells(lake: RunningLake) -> bool:
    """Not while the guardian tries the connector again."""
    return f"lake recover {NAME}" in lake.run("status", check=False).stdout


def test_recover_leads_past_a_change_at_which_the_connector_fails(captured: RunningLake) -> None:
    """Debezium keeps columns by their names in small letters (K2, 5). What the log says of "ID" stays in the log."""
    captured.execute(
        NAME,
        'ALTER TABLE broken ADD "ID" int',
        "INSERT INTO broken VALUES (4, 'at the place', 4)",
        "DELETE FROM calm WHERE id = 1",
        "UPDATE calm SET v = 'behind the place' WHERE id = 2",
        'ALTER TABLE broken DROP COLUMN "ID"',
    )
    late = LakeError("status does not say that the connector fails", CONNECTOR, "choose another change")
    wait_until(lambda: tells(captured), HANG_S, late)
    result = captured.json("recover", NAME)
    assert result["equal"], result
    changes = {name: count for name, count in result["passed"]["changes"].items() if name.startswith("public.")}
    assert changes == {"public.broken": 1, "public.calm": 2}
    assert result["passed"]["reason"]
    assert result["swept"] == {f"{NAME}_mor.calm": 1}
    captured.execute(NAME, "INSERT INTO broken VALUES (5, 'after it')", "INSERT INTO calm VALUES (5, 'after it')")
    captured.drain(NAME)
    assert captured.cold.json("verify", NAME)["equal"]
