"""What happens to the source beside its rows: slots, schemas, publications, passwords."""

import httpx
import pytest

from tests.faults.rig import Rig
from tests.faults.rival_faults import SecondConnector
from tests.faults.source import ACCOUNT, OTHER
from tests.faults.source_faults import Password
from tests.faults.trial import Entry, conclude, under_load
from tests.faults.workload import until

pytestmark = pytest.mark.faults
TOLD_WITHIN_S = 60.0
LOGINS = 30  # refused at most, in half a minute


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
    conclude(rig, entry, small, [])


@pytest.mark.matrix("17", "DROP of a NOT NULL column stops its table alone")
def test_column_dropped(rig: Rig, entry: Entry, small: str) -> None:
    rig.execute(small, "ALTER TABLE other ADD must int NOT NULL DEFAULT 1", "UPDATE other SET n = 0")
    rig.reach(small)
    rig.execute(small, "ALTER TABLE other DROP must", "INSERT INTO other VALUES (1000, 1, 'new')")
    until(lambda: "must" in rig.table_status(f"{small}_mor.other")["reason"], "the table does not stop", TOLD_WITHIN_S)
    rig.execute(small, "UPDATE account SET note = 'after', version = version + 1")
    rig.databases[small] = (ACCOUNT,)
    conclude(rig, entry, small, [])


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
    """Each refused login may count towards a lock-out: who is refused has to wait longer each time."""
    before = _refused(rig)
    under_load(rig, entry, shop, Password(), hold_s=30)
    assert 0 < _refused(rig) - before <= LOGINS, f"{_refused(rig) - before} logins were refused in half a minute"
    secret = rig.home.secrets.lake_capture
    assert [log.name for log in rig.home.logs.iterdir() if secret in log.read_text(errors="replace")] == []


def _refused(rig: Rig) -> int:
    log = rig.home.log("postgres").read_text(errors="replace")
    return log.count('password authentication failed for user "lake_capture"')


@pytest.mark.matrix("21", "a second connector on the slot")
def test_second_connector(rig: Rig, entry: Entry, shop: str) -> None:
    under_load(rig, entry, shop, SecondConnector(shop), hold_s=15)


@pytest.mark.matrix("21", "invalid connectors: ")
@pytest.mark.parametrize(
    "change",
    [{"connector.class": "no.such.Class"}, {"tasks.max": "many"}, {"database.port": "x"}, {"snapshot.mode": "maybe"}],
    ids=lambda change: next(iter(change)),
)
def test_malformed(rig: Rig, entry: Entry, shop: str, change: dict[str, str]) -> None:
    address = f"{rig.home.connect}/connectors/{rig.connector(shop)}/config"
    login = rig.home.connect_login
    before = httpx.get(address, trust_env=False, auth=login).json()
    answer = httpx.put(address, json={**before, **change}, trust_env=False, auth=login, timeout=60)
    assert answer.status_code >= 400, answer.text
    assert httpx.get(address, trust_env=False, auth=login).json() == before
    rig.reach(shop)
