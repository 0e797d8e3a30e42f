"""What happens to a source behind the connector's back: told within a minute, never passed over, recovered."""

import json
from collections.abc import Callable
from dataclasses import replace

import httpx
import psycopg
import pytest

from lake.config.definition import load_database
from lake.config.environment import Wal
from lake.guardian.watch import Guardian
from lake.sources.postgres import limit
from tests.faults import checker, source
from tests.faults.conftest import FIRST, SHOP
from tests.faults.evidence import Version
from tests.faults.rig import Rig
from tests.faults.source import ACCOUNT, OTHER
from tests.faults.test_resnapshot import GAP, differences, rows_read
from tests.faults.trial import Entry, conclude
from tests.faults.workload import until

pytestmark = pytest.mark.faults
TOLD_WITHIN_S = 60.0
SEGMENTS = 8
IDLE_BYTES = 24 * 2**20  # a segment and what a second of writing elsewhere takes


def drop(rig: Rig, slot: str) -> None:
    rig.execute("postgres", f"SELECT pg_drop_replication_slot('{slot}')")


def recreate(rig: Rig, slot: str) -> None:
    drop(rig, slot)
    rig.execute(slot.removeprefix("lake_"), f"SELECT pg_create_logical_replication_slot('{slot}', 'pgoutput')")


def foreign(rig: Rig, slot: str) -> None:
    drop(rig, slot)
    rig.execute("postgres", f"SELECT pg_create_logical_replication_slot('{slot}', 'pgoutput')")


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


@pytest.mark.parametrize(
    ("happens", "told"),
    [
        pytest.param(drop, "does not exist", id="dropped"),
        pytest.param(recreate, "is ahead", id="re-created"),
        pytest.param(foreign, "is not the lake's", id="another database's"),
        pytest.param(advance, "is ahead", id="advanced"),
    ],
)
@pytest.mark.matrix("12", "while the connector is stopped, its slot is ")
def test_slot(rig: Rig, entry: Entry, small: str, happens: Callable[[Rig, str], None], told: str) -> None:
    _told_and_recovered(rig, entry, small, happens, told)


@pytest.mark.matrix("11", "the connector is stopped until its log is removed")
def test_slot_lost(rig: Rig, entry: Entry, shop: str, small: str) -> None:
    _told_and_recovered(rig, entry, small, overrun, "lost the log that it needs (wal_status lost)")


@pytest.mark.matrix("12", "its slot is dropped, and lake recover is interrupted")
def test_recovery_interrupted(rig: Rig, entry: Entry, small: str) -> None:
    """With the new slot the gap is told no more: what is left of it must not be forgotten."""
    lost_in_a_gap(rig, small, drop)
    await_told(rig, small, "does not exist")
    assert rig.lake.run("recover", small, "--timeout", "1", check=False).returncode == 1
    less = rig.lake.run("resnapshot", f"{small}.account", check=False)
    assert (less.returncode, f"run first: lake recover {small}" in " ".join(less.stderr.split())) == (2, True)
    await_told(rig, small, "was interrupted")
    recovered(rig, small)
    assert differences(rig, small) == []


def _told_and_recovered(rig: Rig, entry: Entry, database: str, happens: Callable[[Rig, str], None], told: str) -> None:
    """The connector must not go on behind what is lost, and the lake must be whole again in the end."""
    lost_in_a_gap(rig, database, happens)
    entry.injected.append(happens.__name__)
    await_told(rig, database, told)
    until(lambda: "RUNNING" not in rig.source_status(database)["tasks"], "the task goes on", TOLD_WITHIN_S, every_s=1)
    recovered(rig, database)
    assert differences(rig, database) == []


def lost_in_a_gap(rig: Rig, database: str, happens: Callable[[Rig, str], None]) -> None:
    """Rows are changed, deleted and inserted, and what happens to the slot makes that they are never sent."""
    rig.stop_connector(database)
    rig.execute(
        database,
        "UPDATE account SET note = 'in the gap', version = version + 1000 WHERE id > 50",
        "DELETE FROM account WHERE id <= 10",
        "INSERT INTO account (id, version) VALUES (101, 101)",
    )
    happens(rig, f"lake_{database}")
    rig.start_connector(database)


def await_told(rig: Rig, database: str, told: str) -> None:
    until(
        lambda: any(told in what for what in rig.drifts(database)), f"nothing tells: {told}", TOLD_WITHIN_S, every_s=1
    )
    assert rig.lake.run("status", check=False).returncode == 1


def recovered(rig: Rig, database: str) -> None:
    """`lake recover` ends in parity, and the guardian is content."""
    assert rig.lake.json("recover", database)["equal"]
    until(lambda: rig.drifts(database) == [], "the guardian is not content", TOLD_WITHIN_S, every_s=1)


@pytest.mark.matrix("12", "another server")
def test_other_server(rig: Rig, entry: Entry, small: str) -> None:
    """As if the database behind the address had been swapped while the slot seems to be the same."""
    path = rig.home.data / "guardian" / f"{small}.json"
    until(path.exists, "the guardian knows no server", TOLD_WITHIN_S)
    known = json.loads(path.read_text())
    known["server"]["system_identifier"] = "1"
    path.write_text(json.dumps(known))
    await_told(rig, small, "this is another server")
    until(lambda: rig.source_status(small)["connector"] == "STOPPED", "the connector goes on", TOLD_WITHIN_S, every_s=1)
    recovered(rig, small)
    conclude(rig, entry, small, [])


@pytest.mark.matrix("18", "a table is taken out of the publication, and put back")
@pytest.mark.parametrize("back", [False, True], ids=["by lake recover", "by hand"])
def test_publication(rig: Rig, entry: Entry, small: str, back: bool) -> None:
    _await_known(rig, small)
    rig.execute(small, f"ALTER PUBLICATION lake_{small} DROP TABLE account", "DELETE FROM account WHERE id <= 10")
    if back:
        rig.execute(small, f"ALTER PUBLICATION lake_{small} ADD TABLE account")
    await_told(rig, small, "was out of the publication" if back else "differs from the definition")
    read = rows_read(rig, small, "other")
    recovered(rig, small)
    assert rows_read(rig, small, "other") == read, "a table without a gap was read again"
    assert differences(rig, small) == []


FILTERED = (
    "ALTER PUBLICATION lake_{0} DROP TABLE account",
    "ALTER PUBLICATION lake_{0} ADD TABLE account WHERE (id > 50)",
)


@pytest.mark.matrix("18", "changes are captured in part, until the source is corrected:")
@pytest.mark.parametrize(
    ("statements", "told", "all_tables"),
    [
        pytest.param(
            ["ALTER TABLE account REPLICA IDENTITY DEFAULT"], "the replica identity DEFAULT", False, id="identity"
        ),
        pytest.param(
            ["ALTER PUBLICATION lake_{0} SET (publish = 'insert')"], "does not publish all", True, id="inserts only"
        ),
        pytest.param(FILTERED, "row filter", False, id="row filter"),
    ],
)
def test_captured_in_part(
    rig: Rig, entry: Entry, small: str, statements: list[str], told: str, all_tables: bool
) -> None:
    """What is lost does not come back with the definition's being restored: the tables must be read again."""
    _await_known(rig, small)
    rig.execute(small, *[statement.format(small) for statement in statements])
    await_told(rig, small, told)
    rig.execute(
        small,
        "UPDATE account SET note = 'in the gap', version = version + 1000 WHERE id BETWEEN 20 AND 70",
        "DELETE FROM account WHERE id <= 10",
    )
    rig.lake.apply()
    await_told(rig, small, told)
    read = rows_read(rig, small, "other")
    recovered(rig, small)
    assert (rows_read(rig, small, "other") > read) is all_tables
    assert live_differences(rig, small) == []


def live_differences(rig: Rig, database: str) -> list[str]:
    """The same but for what deleted rows had: without identity FULL their events lack it, and nobody has it."""
    rig.come_to_rest(database)
    found = {
        name: replace(one, lake=_live(one.lake), observed=_live(one.observed))
        for name, one in rig.gather(database).items()
    }
    return [line for line in checker.check(found) if not line.startswith((GAP, "d "))]


def _live(views: dict[str, list[Version]]) -> dict[str, list[Version]]:
    return {name: [row for row in rows if not row.deleted] for name, rows in views.items()}


@pytest.mark.matrix("19", "row-level security hides all rows")
def test_row_security(rig: Rig, entry: Entry, small: str) -> None:
    """To what can't see a row it looks deleted: nothing may be read again, or compared."""
    rig.execute(small, "ALTER TABLE account ENABLE ROW LEVEL SECURITY")
    await_told(rig, small, "row-level security")
    for command in ("resnapshot", "recover"):
        done = rig.lake.run(command, small, check=False)
        assert (done.returncode, "row-level security" in done.stderr) == (2, True), done.stderr
    assert rig.lake.run("verify", f"{small}.account", check=False).returncode != 0
    rig.execute(small, "ALTER TABLE account DISABLE ROW LEVEL SECURITY")
    until(lambda: rig.drifts(small) == [], "the guardian is not content", TOLD_WITHIN_S, every_s=1)
    conclude(rig, entry, small, [])


@pytest.mark.matrix("12", "the connector is deleted")
def test_connector_deleted(rig: Rig, entry: Entry, small: str) -> None:
    httpx.delete(
        f"{rig.home.connect}/connectors/{rig.connector(small)}",
        trust_env=False,
        auth=rig.home.connect_login,
        timeout=60,
    )
    await_told(rig, small, "has no connector")
    rig.execute(small, "UPDATE account SET version = version + 1000", "DELETE FROM account WHERE id <= 10")
    rig.lake.apply()
    until(lambda: rig.drifts(small) == [], "the guardian is not content", TOLD_WITHIN_S, every_s=1)
    conclude(rig, entry, small, [])


@pytest.mark.matrix("18", "TRUNCATE")
def test_truncate(rig: Rig, entry: Entry, small: str) -> None:
    _await_known(rig, small)
    rig.execute(small, "TRUNCATE account", "INSERT INTO account (id, version) VALUES (1000, 1)")
    await_told(rig, small, "was truncated")
    recovered(rig, small)
    assert list(checker.equality(rig.gather(small)["account"])) == []
    rig.databases[small] = (OTHER,)
    conclude(rig, entry, small, [])


@pytest.mark.matrix("18", "DROP TABLE")
def test_table_dropped(rig: Rig, entry: Entry, small: str) -> None:
    """The lake keeps what it was; the other table goes on."""
    _await_known(rig, small)
    rig.execute(small, "DROP TABLE account")
    await_told(rig, small, "public.account")
    rig.databases[small] = (OTHER,)
    rig.reach(small)
    stored = rig.spark.read.format("hudi").load(f"s3a://{rig.home.bucket}/silver/{small}/account_mor")
    assert stored.where("__deleted = 'false'").count() == FIRST + 1  # the marker of the rest
    conclude(rig, entry, small, [])


@pytest.mark.matrix("18", "DROP TABLE and CREATE TABLE of the same name")
def test_table_made_anew(rig: Rig, entry: Entry, small: str) -> None:
    """Rows of the old one are ghosts."""
    _await_known(rig, small)
    rig.execute(small, "DROP TABLE account", f"CREATE TABLE account ({ACCOUNT.columns})")
    with rig.session(small) as connection:
        source.watch(connection, ACCOUNT)
        connection.commit()
    rig.execute(small, "INSERT INTO account (id, version, note) VALUES (5, 5000, 'new'), (1000, 5001, 'new')")
    await_told(rig, small, "public.account ")  # the first of several reasons: the new one has another identity, too
    rig.lake.apply()
    recovered(rig, small)
    assert list(checker.equality(rig.gather(small)["account"])) == []
    rig.databases[small] = (OTHER,)
    conclude(rig, entry, small, [])


@pytest.mark.matrix("17", "ADD COLUMN with a DEFAULT is reported")
def test_default(rig: Rig, entry: Entry, small: str) -> None:
    _await_known(rig, small)
    rig.execute(small, "ALTER TABLE account ADD extra int DEFAULT 7")
    await_told(rig, small, "got the DEFAULT of extra")
    recovered(rig, small)
    assert list(checker.equality(rig.gather(small)["account"])) == []


@pytest.mark.matrix("17", "a nullable column is reported, and ends in parity:")
@pytest.mark.parametrize(
    ("statements", "told"),
    [
        pytest.param(["ALTER TABLE account RENAME note TO remark"], "note renamed to remark", id="renamed"),
        pytest.param(
            ["ALTER TABLE account DROP note", "ALTER TABLE account ADD note text"],
            "note dropped and added again",
            id="dropped and added again",
        ),
    ],
)
def test_column(rig: Rig, entry: Entry, small: str, statements: list[str], told: str) -> None:
    """Rows that do not change read NULL under the new name, or keep the values of the column that was dropped."""
    _await_known(rig, small)
    rig.execute(small, *statements, "UPDATE account SET version = version + 1000 WHERE id <= 10")
    await_told(rig, small, told)
    rig.lake.drain(small)
    assert list(checker.equality(rig.gather(small)["account"])), "nothing had to be told"
    recovered(rig, small)
    assert list(checker.equality(rig.gather(small)["account"])) == []


@pytest.mark.matrix("19", "identity and rights are removed")
@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("ALTER TABLE account REPLICA IDENTITY DEFAULT", "public.account"),
        ("REVOKE SELECT ON account FROM lake_capture", "public.account"),
        ("REVOKE CONNECT ON DATABASE {} FROM public", "may not replicate"),
        ("ALTER TABLE account DROP CONSTRAINT account_pkey", "has no primary key"),
    ],
    ids=["identity", "rights", "connection", "key"],
)
def test_definition(rig: Rig, entry: Entry, small: str, statement: str, told: str) -> None:
    rig.execute(small, statement.format(small))
    await_told(rig, small, told)


def _await_known(rig: Rig, database: str) -> None:
    path = rig.home.data / "guardian" / f"{database}.json"
    until(path.exists, "the guardian knows no tables", TOLD_WITHIN_S)


@pytest.mark.matrix("11", "a database is idle while another one of its server writes")
def test_idle(rig: Rig, entry: Entry, small: str) -> None:
    rig.execute("postgres", "CREATE TABLE IF NOT EXISTS noise (v text)")
    with psycopg.connect(rig.home.dsn(), autocommit=True) as connection:
        for _ in range(SEGMENTS):
            connection.execute("INSERT INTO noise SELECT repeat(md5(i::text), 32) FROM generate_series(1, 12000) i")
    rig.execute("postgres", "DROP TABLE noise")
    until(lambda: (rig.source_status(small)["retained_wal_bytes"] or 0) < IDLE_BYTES, "the log is pinned", every_s=1)


@pytest.mark.matrix("11", "the log limits of a slot are exceeded")
def test_budget(rig: Rig, entry: Entry, small: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Real sources and a real connector; the guardian of this test has a smaller budget than the lake's own."""
    database = load_database(rig.lake.databases / f"{small}.yaml")

    def attend(**budget: int) -> list[str]:
        poor = rig.home.model_copy(update={"wal": Wal(**budget)})
        guardian = Guardian(poor)
        guardian.attend(database)
        return [drift.what for drift in guardian.attend(database)]

    def pause() -> None:
        attend(warn_bytes=1, pause_bytes=1, drop_bytes=2**40)
        until(lambda: rig.source_status(small)["slot"].startswith("inactive"), "the connector goes on", TOLD_WITHIN_S)

    assert any("retains more than 1 bytes" in what for what in attend(warn_bytes=1, pause_bytes=1, drop_bytes=2**40))
    assert rig.source_status(small)["connector"] == "RUNNING", "one that comes further was stopped"
    monkeypatch.setattr(limit, "STILL_S", 0.0)
    pause()
    recovered(rig, small)
    assert rig.source_status(small)["connector"] == "RUNNING"
    pause()
    rig.stack.supervisors["connect"].stop()  # the log grows most while nobody can be asked
    attend(warn_bytes=1, pause_bytes=1, drop_bytes=1)
    rig.stack.start("connect")
    assert rig.source_status(small)["slot"] == "absent"
    await_told(rig, small, "does not exist")
    recovered(rig, small)
    conclude(rig, entry, small, [])
