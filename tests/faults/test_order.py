"""Order: interleaved transactions, keys that change, and events that are delivered again."""

import itertools

import pytest

from tests.faults import schedules
from tests.faults.conftest import SHOP
from tests.faults.process_faults import Kill
from tests.faults.rig import Rig
from tests.faults.state_faults import LostFile, Rewind
from tests.faults.trial import SNAPSHOT_SIZE, Entry, Void, await_share, conclude, filled, resume, under_load
from tests.integration import readers
from tests.integration.lab import in_background

pytestmark = pytest.mark.faults
ACCOUNTS = f"{SHOP}.public.account"
SCHEDULES = 500
ROUNDS = 6
AGAIN = 100


@pytest.mark.matrix("13", "delivered again under load")
@pytest.mark.parametrize("batches", [5, None], ids=["the last batches", "whole topics"])
def test_delivered_again(rig: Rig, entry: Entry, shop: str, batches: int | None) -> None:
    under_load(rig, entry, shop, Rewind(batches))


@pytest.mark.matrix("13", "the archive reads its topic again")
def test_archive_delivered_again(rig: Rig, entry: Entry, small: str) -> None:
    under_load(rig, entry, small, LostFile(f"{small}.public.account"))


@pytest.mark.matrix("1", "kill -9 of Connect; a row that was read is deleted before it is back", phase="snapshot")
def test_deleted_between_two_snapshots(rig: Rig, entry: Entry) -> None:
    database = filled(rig, SNAPSHOT_SIZE)
    try:
        applied = in_background(lambda: rig.capture(database))
        await_share(rig, f"{database}.public.account", 0.3, SNAPSHOT_SIZE)
        kill = Kill("connect")
        kill.inject(rig)
        rig.execute(database, "DELETE FROM account WHERE id = 100001")
        kill.heal(rig)
        resume(rig, database, applied)
        conclude(rig, entry, database, [])
    finally:
        rig.remove(database)


@pytest.mark.matrix("15", f"{SCHEDULES} random schedules of two and three connections on {schedules.KEYS} keys")
def test_schedules(rig: Rig, entry: Entry, shop: str) -> None:
    """Void without one that an order by LSN gets wrong: one in some hundreds is."""
    seeds = range(entry.seed, entry.seed + ROUNDS)
    rounds = next((place for place, seed in enumerate(seeds, 1) if _performed(rig, shop, seed)), None)
    if rounds is None:
        raise Void("no schedule is one that an order by LSN gets wrong")
    entry.injected.append(f"{rounds * SCHEDULES} schedules")
    conclude(rig, entry, shop, [])


def _performed(rig: Rig, shop: str, seed: int) -> list[readers.Record]:
    begin = readers.end_of(rig.home, ACCOUNTS)
    schedules.run(rig.home.dsn(shop), seed, SCHEDULES)
    rig.reach(shop)
    return _falling(readers.topic_records(rig.home, ACCOUNTS, begin))


def _falling(records: list[readers.Record]) -> list[readers.Record]:
    """The changes that were written before one of the same row that was committed before them (F1)."""
    return [
        later
        for earlier, later in itertools.combinations(records, 2)
        if later["id"] == earlier["id"] and later["__lsn"] < earlier["__lsn"]
    ]


@pytest.mark.matrix("16", f"chains and swaps of keys; a row deleted and inserted {AGAIN} times in one transaction")
def test_keys(rig: Rig, entry: Entry, shop: str) -> None:
    def move(old: int, new: int) -> str:
        return f"UPDATE account SET id = {new}, version = version + 1 WHERE id = {old}"

    chain = [move(key, key + 1) for key in range(-400, -390)]
    swap = [move(-300, -302), move(-301, -300), move(-302, -301)]
    again = [
        statement
        for turn in range(AGAIN)
        for statement in (
            "DELETE FROM account WHERE id = -299",
            f"INSERT INTO account (id, version) VALUES (-299, {2 + turn})",  # no version twice
        )
    ]
    rows = ", ".join(f"({key}, 1)" for key in (-400, -300, -301, -299))
    with rig.session(shop) as connection:
        for statements in ([f"INSERT INTO account (id, version) VALUES {rows}"], [*chain, *swap, *again]):
            for statement in statements:
                connection.execute(statement.encode())
            connection.commit()
    entry.injected.append(f"{len(chain) + len(swap) + len(again)} statements in one transaction")
    conclude(rig, entry, shop, [])
