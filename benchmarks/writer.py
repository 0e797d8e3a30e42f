"""The load: one process that changes rows at a steady rate, or as fast as PostgreSQL takes them."""

import itertools
import random
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import LiteralString

import psycopg

COLUMNS = (
    "id bigint PRIMARY KEY, seq bigint, customer int, product text, quantity int, price numeric(10,2), "
    "status text, note text, ordered date, changed timestamptz"
)
BATCH = 100
SHARES = (80, 15, 5)  # inserts, updates, deletes in each transaction of BATCH
PRODUCTS = ("anvil", "rope", "magnet", "spring", "paint", "rocket", "tunnel", "seed")


def ddl(table: str) -> str:
    """The DDL of a table of ten columns."""
    return f"CREATE TABLE public.{table} ({COLUMNS}); ALTER TABLE public.{table} REPLICA IDENTITY FULL"


class SteadyWriter(threading.Thread):
    """One change per transaction at a fixed rate. `committed[seq]` is when the client learned of it (epoch s).

    A lost connection is opened again.
    """

    def __init__(self, dsn: str, table: str, per_second: float) -> None:
        super().__init__(daemon=True)
        self.committed: list[float] = []
        self._dsn, self._table, self._gap = dsn, table, 1 / per_second
        self._stopping = threading.Event()

    def run(self) -> None:
        statement = (
            f"INSERT INTO public.{self._table} "
            "(id, seq, customer, product, quantity, price, status, note, ordered, changed) "
            "VALUES (%s, %s, 7, 'anvil', 3, 9.99, 'new', 'a note of some length', current_date, now()) "
            "ON CONFLICT (id) DO UPDATE "
            "SET seq = excluded.seq, changed = excluded.changed, quantity = excluded.quantity + 1"
        )
        while not self._stopping.wait(self._gap):
            with suppress(psycopg.OperationalError), psycopg.connect(self._dsn, autocommit=True) as connection:
                self._write(connection, statement)

    def _write(self, connection: psycopg.Connection, statement: LiteralString) -> None:
        due = time.time()
        while not self._stopping.is_set():
            connection.execute(statement, [len(self.committed) % 2000, len(self.committed)])
            self.committed.append(time.time())
            due += self._gap
            time.sleep(max(0.0, due - time.time()))

    def stop(self) -> None:
        self._stopping.set()
        self.join()


class TurnWriter(threading.Thread):
    """Each statement once a second, one after the other."""

    def __init__(self, dsn: str, statements: Sequence[str]) -> None:
        super().__init__(daemon=True)
        self._dsn, self._statements = dsn, [statement.encode() for statement in statements]
        self._stopping = threading.Event()

    def run(self) -> None:
        gap, due = 1 / len(self._statements), time.monotonic()
        with psycopg.connect(self._dsn, autocommit=True) as connection:
            for statement in itertools.cycle(self._statements):
                due += gap
                if self._stopping.wait(max(0.0, due - time.monotonic())):
                    return
                connection.execute(statement)

    def stop(self) -> None:
        self._stopping.set()
        self.join()


def write_flat_out(connection: psycopg.Connection, table: str, changes: int, seed: int = 1) -> float:
    """`changes` changes in transactions of BATCH, 80/15/5 insert/update/delete; returns the seconds it took."""
    began = time.monotonic()
    chooser, live, next_id = random.Random(seed), [0], 1
    for _ in range(changes // BATCH):
        inserts = [_row(chooser, next_id + n) for n in range(SHARES[0])]
        updates = [chooser.choice(live) for _ in range(SHARES[1])]
        deletes = [live.pop(chooser.randrange(len(live))) for _ in range(min(SHARES[2], len(live) - 1))]
        with connection.transaction(), connection.cursor() as cursor, connection.pipeline():
            for statement, rows in _statements(table, inserts, updates, deletes):
                cursor.execute(statement, rows)
        live.extend(row[0] for row in inserts)
        next_id += SHARES[0]
    return time.monotonic() - began


def _statements(table: str, inserts: list[tuple], updates: list[int], deletes: list[int]) -> Iterator[tuple[str, list]]:
    columns = list(zip(*inserts, strict=True))
    yield (
        f"INSERT INTO public.{table} SELECT *, now() FROM unnest("
        "%s::bigint[], %s::bigint[], %s::int[], %s::text[], %s::int[], "
        "%s::numeric[], %s::text[], %s::text[], %s::date[])",
        [list(column) for column in columns],
    )
    # One statement per row, like an application: a set-based update would touch a repeated id only once.
    for identity in updates:
        yield (
            f"UPDATE public.{table} SET quantity = quantity + 1, status = 'paid', changed = now() WHERE id = %s",
            [identity],
        )
    yield f"DELETE FROM public.{table} WHERE id = ANY(%s)", [deletes]


def _row(chooser: random.Random, identity: int) -> tuple:
    product = chooser.choice(PRODUCTS)
    price = f"{chooser.randrange(1, 100000) / 100:.2f}"
    return (
        identity,
        identity,
        chooser.randrange(5000),
        product,
        chooser.randrange(1, 9),
        price,
        "new",
        f"order of {product} {identity}",
        "2026-01-31",
    )
