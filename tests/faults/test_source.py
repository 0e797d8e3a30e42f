"""What happens to the source beside its rows: slots, schemas, publications, passwords."""

from collections.abc import Callable

import httpx
import pytest

from tests.faults import checker, workload
from tests.faults.conftest import SHOP
from tests.faults.faults import Password, SecondConnector
from tests.faults.rig import Rig
from tests.faults.source import ACCOUNT, OTHER
from tests.faults.trial import Entry, conclude, under_load
from tests.faults.workload import until

pytestmark = pytest.mark.faults
TOLD_WITHIN_S = 60.0
SEGMENTS = 8


def drop(rig: Rig, slot: str) -> None:
    rig.execute("postgres", f"SELECT pg_drop_replication_slot('{slot}')")


def recreate(rig: Rig, slot: str) -> None:
    drop(rig, slot)
    rig.execute(slot.removeprefix("lake_"), f"SELECT pg_create_logical_replication_slot('{slot}', 'pgoutput')")


def advance(rig: Rig, slot: str) -> None:
    rig.execute(slot.removeprefix("lake_"), f"SELECT pg_replication_slot_advance('{slot}', pg_current_wal_lsn())")


def overrun(rig: Rig, slot: str) -> None:
    """More log than slots may retain; that of a connector that runs has moved on."""
    rig.execute("postgres", "ALTER SYSTEM SET max_slot_wal_keep_size = '48MB'", "SELECT pg_reload_conf()")
    for _ in range(SEGMENTS):
        rig.execute(SHOP, f"UPDATE account SET version = version + 1 WHERE id = {SEGMENTS}", "SELECT pg_switch_wal()")
        rig.reach(SHOP)
    rig.execute("postgres", "CHECKPOINT", "ALTER SYSTEM RESET max_slot_wal_keep_size", "SELECT pg_reload_conf()")
    lost = f"SELECT 1 FROM pg_replication_slots WHERE slot_name = '{slot}' AND wal_status = 'lost'"
    until(lambda: bool(rig.rows("postgres", lost)), "the slot is not lost")


@pytest.mark.parametrize("happens", [drop, recreate, advance], ids=lambda one: one.__name__)
@pytest.mark.matrix("12", "while the connector is stopped, its slot: ")
def test_slot(rig: Rig, entry: Entry, small: str, happens: Callable[[Rig, str], None]) -> None:
    _told_of(rig, entry, small, happens)


@pytest.mark.matrix("11", "the connector is stopped until its log is gone")
def test_slot_lost(rig: Rig, entry: Entry, shop: str, small: str) -> None:
    _told_of(rig, entry, small, overrun)


def _told_of(rig: Rig, entry: Entry, database: str, happens: Callable[[Rig, str], None]) -> None:
    """Changes are lost; the connector must say so instead of going on behind them."""
    rig.stop_connector(database)
    rig.execute(database, "UPDATE account SET note = 'in the gap', version = version + 1")
    happens(rig, f"lake_{database}")
    entry.injected.append(happens.__name__)
    rig.start_connector(database)
    until(lambda: "FAILED" in rig.source_status(database)["tasks"], "the task goes on", TOLD_WITHIN_S, every_s=1)
    assert rig.source_status(database)["reason"]
    assert rig.lake.run("status", check=False).returncode == 1


@pytest.mark.xfail(
    strict=True, raises=AssertionError, reason="existing rows get a DEFAULT in PostgreSQL without an event"
)
@pytest.mark.matrix("17", "ADD COLUMN with a DEFAULT")
def test_column_with_default(rig: Rig, entry: Entry, small: str) -> None:
    rig.execute(small, "ALTER TABLE account ADD extra int DEFAULT 7", "UPDATE account SET version = 0 WHERE id = 1")
    rig.come_to_rest(small)
    assert list(checker.equality(rig.gather(small)["account"])) == []


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="a table rewritten between two changes of a transaction stalls the connector",
)
@pytest.mark.matrix("17", "UPDATE, ALTER TYPE ... USING, UPDATE in one transaction")
def test_type_changed_between_changes(rig: Rig, entry: Entry, small: str) -> None:
    with rig.session(small) as connection:
        for statement in (
            "UPDATE other SET version = version + 1000",
            "ALTER TABLE other ALTER n TYPE bigint USING n + 1",
            "UPDATE other SET version = version + 1000",
        ):
            connection.execute(statement.encode())
        connection.commit()
    rig.reach(small, within_s=45)


@pytest.mark.matrix("17", "DROP of a NOT NULL column stops its table alone")
def test_column_dropped(rig: Rig, entry: Entry, small: str) -> None:
    rig.execute(small, "ALTER TABLE other ADD must int NOT NULL DEFAULT 1", "UPDATE other SET n = 0")
    rig.reach(small)
    rig.execute(small, "ALTER TABLE other DROP must", "INSERT INTO other VALUES (1000, 1, 'new')")
    until(lambda: "must" in rig.table_status(f"{small}_mor.other")["reason"], "the table does not stop", TOLD_WITHIN_S)
    rig.execute(small, "UPDATE account SET note = 'after', version = version + 1")
    rig.databases[small] = (ACCOUNT,)
    conclude(rig, entry, small, [])


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="TRUNCATE is not captured, and nothing tells of it")
@pytest.mark.matrix("18", "TRUNCATE")
def test_truncate(rig: Rig, entry: Entry, small: str) -> None:
    rig.execute(small, "TRUNCATE account", "INSERT INTO other VALUES (1000, 1, 'new')")
    rig.reach(small)
    assert rig.lake.run("status", check=False).returncode == 1


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="a table that leaves the publication is not noticed")
@pytest.mark.matrix("18", "a table is taken out of the publication")
def test_publication(rig: Rig, entry: Entry, small: str) -> None:
    rig.execute(small, f"ALTER PUBLICATION lake_{small} DROP TABLE account")
    until(lambda: rig.lake.run("status", check=False).returncode == 1, "nothing tells of it", TOLD_WITHIN_S, every_s=5)


@pytest.mark.matrix("19", "refused at the start: ")
@pytest.mark.parametrize(
    ("table", "reason"),
    [("absent", "has no table"), ("keyless", "has no primary key")],
    ids=["a missing table", "a table without key"],
)
def test_refused(rig: Rig, entry: Entry, small: str, table: str, reason: str) -> None:
    rig.execute(small, "CREATE TABLE keyless (id int, v text)")
    tables = {
        "public.account": ACCOUNT.definition,
        "public.other": OTHER.definition,
        f"public.{table}": {"key": ["id"]},
    }
    rig.lake.define(small, tables)
    done = rig.lake.run("apply", check=False)
    assert (done.returncode, reason in done.stderr) == (2, True), done.stderr
    rig.capture(small)
    conclude(rig, entry, small, [])


@pytest.mark.matrix("20", "the password is changed and all sessions are ended")
def test_password(rig: Rig, entry: Entry, shop: str) -> None:
    under_load(rig, entry, shop, Password(), hold_s=15)
    secret = rig.home.secrets.lake_capture
    assert [log.name for log in rig.home.logs.iterdir() if secret in log.read_text(errors="replace")] == []


@pytest.mark.matrix("21", "a second connector on the slot")
def test_second_connector(rig: Rig, entry: Entry, shop: str) -> None:
    under_load(rig, entry, shop, SecondConnector(shop), hold_s=15)


@pytest.mark.matrix("21", "connectors that are no connectors: ")
@pytest.mark.parametrize(
    "change",
    [{"connector.class": "no.such.Class"}, {"tasks.max": "many"}, {"database.port": "x"}, {"snapshot.mode": "maybe"}],
    ids=lambda change: next(iter(change)),
)
def test_malformed(rig: Rig, entry: Entry, shop: str, change: dict[str, str]) -> None:
    address = f"{rig.home.connect}/connectors/{rig.connector(shop)}/config"
    before = httpx.get(address, trust_env=False).json()
    answer = httpx.put(address, json={**before, **change}, trust_env=False, timeout=60)
    assert answer.status_code >= 400, answer.text
    assert httpx.get(address, trust_env=False).json() == before
    with rig.session(shop) as connection:
        workload.perform(connection, [workload.marker(table, 1) for table in rig.databases[shop]])
        connection.commit()
    rig.reach(shop)
