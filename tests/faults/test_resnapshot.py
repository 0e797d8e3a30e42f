"""Reading tables again: ghosts of a gap, values that came without an event, and all of it under load."""

import pytest

from tests.faults import checker
from tests.faults.conftest import FIRST
from tests.faults.rig import Rig
from tests.faults.source import OTHER
from tests.faults.test_messages import produce, quarantined
from tests.faults.trial import LEAST_DURING, Entry, Void, conclude
from tests.faults.workload import until
from tests.integration import readers
from tests.integration.lab import in_background

pytestmark = pytest.mark.faults
AGAIN = ("account", "item", "gone")  # hot keys, keys that change their partition, and hard deletes
GAP = "e order"  # the step of the checker that misses in the topic what was lost


def lose(rig: Rig, database: str, *statements: str) -> None:
    """Changes to table account that no event tells of."""
    publication = f"ALTER PUBLICATION lake_{database}"
    rig.execute(database, f"{publication} DROP TABLE account", *statements, f"{publication} ADD TABLE account")


def differences(rig: Rig, database: str) -> list[str]:
    """What the checker finds beside the gap in the topic."""
    rig.come_to_rest(database)
    return [line for line in checker.check(rig.gather(database)) if not line.startswith(GAP)]


@pytest.mark.matrix("12", "rows are deleted, changed and inserted in a gap, then the table is re-snapshotted")
def test_ghosts(rig: Rig, entry: Entry, small: str) -> None:
    lose(
        rig,
        small,
        "DELETE FROM account WHERE id <= 10",
        "UPDATE account SET note = 'in the gap', version = version + 1000 WHERE id BETWEEN 11 AND 20",
        "INSERT INTO account (id, version) VALUES (101, 101)",
    )
    assert any("b account" in line for line in differences(rig, small)), "there are no ghosts to sweep"
    result = rig.lake.json("resnapshot", f"{small}.account")
    assert (result["equal"], result["swept"]) == (True, {f"{small}_cow.account": 10, f"{small}_mor.account": 10})
    assert differences(rig, small) == []
    rig.execute(small, "INSERT INTO account (id, version, note) VALUES (1, 5000, 'again')")
    assert differences(rig, small) == [], "a key that was swept does not come back"


@pytest.mark.matrix("31", "a row that was set aside is deleted in a gap, and its table is re-snapshotted")
def test_set_aside_before(rig: Rig, entry: Entry, aside: str) -> None:
    """Its replay would bring the row back: the message is given up with what the table was before."""
    last = readers.topic_values(rig.home, f"{aside}.public.account")[-1]
    offset = produce(rig, f"{aside}.public.account", last[:-4])
    rig.lake.drain(aside)
    lose(rig, aside, f"DELETE FROM account WHERE id = {FIRST}")
    result = rig.lake.json("resnapshot", f"{aside}.account")
    assert (result["equal"], result["given_up"]) == (True, [f"{aside}.public.account/0/0/{offset}"])
    assert rig.lake.json("quarantine", "replay", aside)["replayed"] == []
    assert quarantined(rig, aside, "--all")[0]["state"] == "dropped"


@pytest.mark.matrix("17", "ADD COLUMN with a DEFAULT, then the table is re-snapshotted")
def test_column_with_default(rig: Rig, entry: Entry, small: str) -> None:
    rig.execute(small, "ALTER TABLE account ADD extra int DEFAULT 7", "UPDATE account SET version = 0 WHERE id = 1")
    rig.come_to_rest(small)
    assert list(checker.equality(rig.gather(small)["account"])), "existing rows have the value already"
    assert rig.lake.run("resnapshot", f"{small}.account").returncode == 0
    assert list(checker.equality(rig.gather(small)["account"])) == []


@pytest.mark.matrix("18", "all lake rows of an emptied table are orphaned")
def test_truncated(rig: Rig, entry: Entry, small: str) -> None:
    rig.execute(small, "TRUNCATE account")
    assert rig.lake.json("resnapshot", f"{small}.account")["swept"][f"{small}_mor.account"] == 101
    rig.databases[small] = (OTHER,)
    conclude(rig, entry, small, [])


def rows_read(rig: Rig, database: str, table: str = "account") -> int:
    """How many rows of the table were read, and not streamed, until now."""
    return sum(record["__op"] == "r" for record in readers.topic_records(rig.home, f"{database}.public.{table}"))


@pytest.mark.matrix("15", "tables are re-snapshotted under load")
def test_under_load(rig: Rig, entry: Entry, shop: str) -> None:
    """The load ends while the tables are settled: keys that never rest can't be proven equal."""
    with rig.load(shop, entry.load_seed) as writing:
        rig.reach(shop)  # so that what is read from now on is not of the first snapshot
        before, read = writing.committed, rows_read(rig, shop)
        again = in_background(lambda: rig.lake.json("resnapshot", *(f"{shop}.{name}" for name in AGAIN)))
        until(lambda: rows_read(rig, shop) > read, "nothing is read again", every_s=1)
        entry.injected.append(f"{writing.committed - before} transactions meanwhile")
        if writing.committed - before < LEAST_DURING:
            raise Void(entry.injected[-1])
    result = again()
    assert (result["equal"], result["swept"]) == (True, {})
    conclude(rig, entry, shop, [])
