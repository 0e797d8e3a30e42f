"""Services that stop or die under load: the lake falls behind, and then equals its source again."""

import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from lake.local.supervisor import RUNNING
from tests.integration import readers
from tests.integration.lab import Lab, in_background

# done: other tests count on the offsets of what crosses, which is written first.
pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.usefixtures("done")]
SEED = 20261121
KEYS = 200
LEAST = 1000  # messages of a run under load, or it proves nothing
WRITTEN = ("hot", "moving", "gone")


def schemas(lab: Lab) -> dict[str, list[int]]:
    """All versions of all subjects: name to ids."""
    with httpx.Client(base_url=f"{lab.home.registry}/apis/ccompat/v7", trust_env=False) as client:
        return {
            subject: [
                int(client.get(f"/subjects/{subject}/versions/{version}").raise_for_status().json()["id"])
                for version in client.get(f"/subjects/{subject}/versions").raise_for_status().json()
            ]
            for subject in client.get("/subjects").raise_for_status().json()
        }


def kill(lab: Lab, name: str) -> None:
    """kill -9, and wait until its supervisor has started it again."""
    before = lab.stack.supervisors[name].state().pid
    os.kill(before, signal.SIGKILL)

    def is_back() -> bool:
        state = lab.stack.supervisors[name].state()
        return state.state == RUNNING and state.pid != before and lab.stack.service(name).ready()

    lab.until(is_back, f"{name} is not back")


def one_transaction(lab: Lab, chance: random.Random) -> None:
    """A few random changes of the three tables."""
    statements = []
    for _ in range(chance.randint(1, 12)):
        key, table = 5000 + chance.randrange(KEYS), chance.choice(WRITTEN)
        value = f"{chance.getrandbits(64):x}"
        inserted = {"hot": f"'{value}'", "moving": f"'{value[0]}', '{value}'", "gone": f"'{value}', '{value}'"}[table]
        changed = {"hot": "v", "moving": "v", "gone": "name"}[table]
        moved = f", part = '{value[0]}'" if table == "moving" else ""
        statements.append(
            chance.choice(
                [
                    f"DELETE FROM {table} WHERE id = {key}",
                    f"INSERT INTO {table} VALUES ({key}, {inserted}) "
                    f"ON CONFLICT (id) DO UPDATE SET {changed} = excluded.{changed}{moved}",
                    f"UPDATE {table} SET {changed} = '{value}'{moved} WHERE id = {key}",
                    f"UPDATE {table} SET {changed} = '{value}'{moved} WHERE id BETWEEN {key} AND {key + 20}",
                ]
            )
        )
    lab.transaction(*statements)


@contextmanager
def load(lab: Lab) -> Iterator[None]:
    """Transactions without end; SEED repeats them."""
    stop = threading.Event()

    def write() -> None:
        chance = random.Random(SEED)
        while not stop.is_set():
            one_transaction(lab, chance)
            time.sleep(0.01)

    ended = in_background(write)
    try:
        yield
    finally:
        stop.set()
        ended()


def test_registry_restarted_and_killed_keeps_every_id(lab: Lab) -> None:
    before = schemas(lab)
    assert len(before) >= 10
    lab.lake.run("restart", "registry")
    assert schemas(lab) == before
    kill(lab, "registry")
    assert schemas(lab) == before
    lab.transaction("ALTER TABLE grown ADD after_restart int", "INSERT INTO grown (id, after_restart) VALUES (100, 1)")
    lab.drain()
    assert lab.differences("grown") == {}
    after = schemas(lab)
    assert {name: ids[: len(before[name])] for name, ids in after.items() if name in before} == before
    new = [number for name, ids in after.items() for number in ids if number not in before.get(name, [])]
    assert new and min(new) > max(number for ids in before.values() for number in ids)


def test_metastore_away_holds_up_no_commit(lab: Lab) -> None:
    lab.stack.supervisors["metastore"].stop()
    try:
        lab.transaction(
            "INSERT INTO moving VALUES (4001, 'unseen', 'v')",
            "ALTER TABLE grown ADD unseen int",
            "INSERT INTO grown (id, unseen) VALUES (101, 1)",
        )
        lab.drain()
        assert lab.facts("lab_mor.moving")["state"] == lab.facts("lab_cow.grown")["state"] == "running"
    finally:
        lab.stack.start("metastore")
    for kind in ("cow", "mor"):
        assert lab.live("moving", kind)[(4001,)] == (4001, "unseen", "v")
    lab.until(lambda: "part=unseen" in lab.partitions("lab_cow.moving"), "the partition stays unknown")
    lab.until(lambda: "unseen" in lab.catalogued("lab_mor.grown_rt"), "the column stays unknown")


def test_stream_and_connect_killed_under_load(lab: Lab) -> None:
    """Last: the whole of both databases is then proven equal by `lake verify`."""
    begin = sum(readers.end_of(lab.home, f"lab.public.{table}") for table in WRITTEN)
    with load(lab):
        time.sleep(2)
        kill(lab, "stream")
        time.sleep(3)
        kill(lab, "connect")
        time.sleep(2)
        kill(lab, "stream")
        kill(lab, "connect")
    lab.drain()
    assert sum(readers.end_of(lab.home, f"lab.public.{table}") for table in WRITTEN) - begin >= LEAST
    assert lab.differences(*WRITTEN) == {}
    proof = lab.lake.json("verify", "lab", "early")
    assert proof["equal"], proof
