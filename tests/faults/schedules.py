"""Random interleavings of two or three connections, statement by statement, on few keys (F1 to F3)."""

import random
from concurrent.futures import Future, ThreadPoolExecutor, wait
from concurrent.futures import TimeoutError as NotYet
from typing import Any

import psycopg

from tests.faults.workload import CROSSED

KEYS = 5
STATEMENTS = 4  # of one transaction, at most
BLOCKED_AFTER_S = 0.01  # a statement that takes longer waits for another connection
ALL_BLOCKED_WITHIN_S = 10.0
CHANGES = (
    "INSERT INTO account (id, version, note) VALUES ({key}, {version}, 'inserted')",
    "INSERT INTO account (id, version, note) VALUES ({key}, {version}, 'inserted too')",
    "UPDATE account SET version = {version}, note = 'updated' WHERE id = {key}",
    "DELETE FROM account WHERE id = {key}",
    "UPDATE account SET id = {other}, version = {version} WHERE id = {key}",
)


class Actor:
    """One connection that performs one statement at a time, in a thread of its own."""

    def __init__(self, dsn: str) -> None:
        self._connection = psycopg.connect(dsn)
        # Two that wait for each other are told apart after this; the default of a second would be most of the run.
        self._connection.execute("SET deadlock_timeout = '20ms'")
        self._connection.commit()
        self._thread = ThreadPoolExecutor(max_workers=1)
        self.script: list[str] = []
        self.pending: Future[Any] | None = None

    def step(self) -> None:
        """Begins the next statement; returns when it is done, or waits."""
        self.pending = self._thread.submit(self._perform, self.script.pop(0))
        try:
            self.pending.result(BLOCKED_AFTER_S)
        except NotYet:
            return

    def _perform(self, statement: str) -> None:
        try:
            self._connection.execute(statement.encode())
        except CROSSED:
            self._connection.rollback()
            self.script.clear()

    @property
    def waits(self) -> bool:
        return self.pending is not None and not self.pending.done()

    def close(self) -> None:
        self._thread.shutdown()
        self._connection.close()


def run(dsn: str, seed: int, count: int) -> None:
    """Performs that many schedules, one after the other."""
    chance = random.Random(seed)
    actors = [Actor(dsn) for _ in range(3)]
    try:
        for _ in range(count):
            _schedule(actors[: chance.choice((2, 3))], chance)
    finally:
        for actor in actors:
            actor.close()


def _schedule(actors: list[Actor], chance: random.Random) -> None:
    for actor in actors:
        changes = [_change(chance) for _ in range(chance.randint(1, STATEMENTS))]
        actor.script = [*changes, chance.choice(("COMMIT", "COMMIT", "COMMIT", "ROLLBACK"))]
    while any(actor.script or actor.waits for actor in actors):
        ready = [actor for actor in actors if actor.script and not actor.waits]
        if ready:
            chance.choice(ready).step()
        else:
            done, _ = wait([actor.pending for actor in actors if actor.waits and actor.pending], ALL_BLOCKED_WITHIN_S)
            assert done, "connections wait for each other for ever"


def _change(chance: random.Random) -> str:
    keys = {"key": -200 - chance.randrange(KEYS), "other": -200 - chance.randrange(KEYS)}
    return chance.choice(CHANGES).format(**keys, version=chance.getrandbits(53))
