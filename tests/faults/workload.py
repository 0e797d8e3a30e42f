"""Transactions on hot keys from several sessions, from a seed.

The statements of each session follow from the seed alone; how the sessions interleave is PostgreSQL's business, and
what came of it is in the audit.
"""

import random
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, NamedTuple

import psycopg

from benchmarks.machine import Machine
from tests.faults.source import TABLES, Table

HOT = 40  # keys that nearly all changes meet
WARM = 600
COPIED = 20
COPIED_AT_ONCE = 1000
AFTER_A_LOST_CONNECTION_S = 0.2
ROLLED_BACK = 0.1  # of all transactions
SOON = (30, 120)  # transactions of the first session, which may add a column
STRANGE = ["", "ж日本😀", "e\u0301", "\u202eabc", "a\r\nb\tc", 'it\'s "so"', "back\\slash", "%s ? {}", "__op", "null"]
CROSSED = (psycopg.errors.DeadlockDetected, psycopg.errors.UniqueViolation, psycopg.errors.SerializationFailure)


class Statement(NamedTuple):
    """SQL with its values; rows when it is a COPY."""

    sql: str
    values: tuple[Any, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()


class Sequel:
    """The endless sequence of one session's transactions; those of the given numbers add a column."""

    def __init__(self, seed: str, tables: tuple[Table, ...] = TABLES, grows_at: Sequence[int] = ()) -> None:
        self._chance = random.Random(seed)
        self._tables = tables
        self._grows_at = grows_at
        self._seed = seed
        self._number = 0

    def transaction(self) -> tuple[list[Statement], bool]:
        """Its statements, and whether it is to be committed."""
        self._number += 1
        if self._number in self._grows_at:
            return self._growth(), True
        count = self._chance.choice((1, 1, 2, 3, 5, 12))
        statements = [one for _ in range(count) for one in self._change(self._chance.choice(self._tables))]
        return statements, self._chance.random() >= ROLLED_BACK

    def _change(self, table: Table) -> list[Statement]:
        kinds = (self._put, self._put, self._update, self._update, self._touch, self._delete, self._again, self._move)
        rare = (self._range, self._copy)
        return self._chance.choice(kinds if self._chance.random() < 0.96 else rare)(table)

    def _put(self, table: Table) -> list[Statement]:
        return [upsert(table, self.row(table))]

    def _update(self, table: Table) -> list[Statement]:
        row = self.row(table)
        changed = {name: value for name, value in row.items() if name not in table.key}
        return [_where(table, f"UPDATE {table.name} SET {_assigned(changed)}", tuple(changed.values()), row)]

    def _touch(self, table: Table) -> list[Statement]:
        """Leaves all columns but one as they are: large values are not in PostgreSQL's log again."""
        row = self.row(table)
        return [_where(table, f"UPDATE {table.name} SET version = %s", (row["version"],), row)]

    def _delete(self, table: Table) -> list[Statement]:
        return [_where(table, f"DELETE FROM {table.name}", (), self.row(table))]

    def _again(self, table: Table) -> list[Statement]:
        row = self.row(table)
        return [_where(table, f"DELETE FROM {table.name}", (), row), _insert(table, row)]

    def _move(self, table: Table) -> list[Statement]:
        """Another key for a row, where that is free."""
        row, target = self.row(table), self.row(table)
        keys = {name: target[name] for name in table.key}
        taken = " AND ".join(f"{name} = %s" for name in table.key)
        moved = _where(
            table, f"UPDATE {table.name} SET {_assigned({**keys, 'version': 0})}", (*keys.values(), row["version"]), row
        )
        free = f" AND NOT EXISTS (SELECT FROM {table.name} WHERE {taken})"
        return [Statement(moved.sql + free, (*moved.values, *keys.values()))]

    def _range(self, table: Table) -> list[Statement]:
        if table.key != ("id",):
            return [Statement(f"UPDATE {table.name} SET version = %s", (self._version(),))]
        first = self._chance.randrange(WARM)
        sql = f"UPDATE {table.name} SET version = %s WHERE id BETWEEN %s AND %s"
        return [Statement(sql, (self._version(), first, first + 30))]

    def _copy(self, table: Table, count: int = COPIED) -> list[Statement]:
        """Many rows in one record of PostgreSQL's log (F10)."""
        if table.key != ("id",) or table.name == "big":
            return self._again(table)
        first = 10_000 + self._chance.randrange(WARM)
        rows = [{**self.row(table), "id": first + number} for number in range(count)]
        emptied = Statement(f"DELETE FROM {table.name} WHERE id BETWEEN %s AND %s", (first, first + count - 1))
        names = ", ".join(rows[0])
        return [
            emptied,
            Statement(f"COPY {table.name} ({names}) FROM STDIN", rows=tuple(tuple(row.values()) for row in rows)),
        ]

    def _growth(self) -> list[Statement]:
        """A column more, with values in the same transaction."""
        table = self._tables[0].name
        column = f"added_{self._seed.replace('.', '_')}_{self._number}"
        update = f"UPDATE {table} SET {column} = %s, version = %s WHERE id < %s"
        return [
            Statement(f"ALTER TABLE {table} ADD COLUMN IF NOT EXISTS {column} text"),
            Statement(update, ("new", self._version(), HOT // 2)),
        ]

    def _version(self) -> int:
        return self._chance.getrandbits(53)

    def row(self, table: Table) -> dict[str, Any]:
        """All columns; a version that no other row has tells every row version from all others."""
        return {**self._key(table), "version": self._version(), **self._data(table.name)}

    def _key(self, table: Table) -> dict[str, Any]:
        number = self._chance.randrange(HOT if self._chance.random() < 0.8 else WARM)
        if table.key == ("id",):
            return {"id": number}
        return {"a": STRANGE[number % len(STRANGE)] + ",:" * (number % 3), "b": f"{number // 7}"}

    def _data(self, name: str) -> dict[str, Any]:
        chance = self._chance
        text = chance.choice(STRANGE) + f"{chance.getrandbits(64):x}"
        if name == "account":
            return {"amount": chance.randrange(-(10**11), 10**11) / 100, "note": chance.choice((text, None))}
        if name == "item":
            return {"place": chance.choice(("north", "south/east", "é :%", None)), "n": chance.getrandbits(20)}
        if name == "big":
            return {"n": chance.getrandbits(20), "t": f"{chance.getrandbits(40_000):x}", "b": chance.randbytes(4_000)}
        if name == "bare":
            large = chance.choice((f"{chance.getrandbits(12_000):x}", text, None))
            return {"n": chance.getrandbits(20), "name": text, "t": large}
        return {"name" if name == "gone" else "v": text}


class Lasting(Sequel):
    """No key is gone for good: what a transaction deletes, it inserts again."""

    def _delete(self, table: Table) -> list[Statement]:
        return self._again(table)

    def _move(self, table: Table) -> list[Statement]:
        return self._again(table)


class Copies(Sequel):
    """Transactions of one COPY each."""

    def transaction(self) -> tuple[list[Statement], bool]:
        return self._copy(self._chance.choice(self._tables), COPIED_AT_ONCE), True


def _insert(table: Table, row: dict[str, Any], otherwise: str = "") -> Statement:
    marks = ", ".join(["%s"] * len(row))
    return Statement(f"INSERT INTO {table.name} ({', '.join(row)}) VALUES ({marks}){otherwise}", tuple(row.values()))


def _assigned(row: dict[str, Any]) -> str:
    return ", ".join(f"{name} = %s" for name in row)


def _where(table: Table, sql: str, values: tuple[Any, ...], row: dict[str, Any]) -> Statement:
    keys = " AND ".join(f"{name} = %s" for name in table.key)
    return Statement(f"{sql} WHERE {keys}", (*values, *(row[name] for name in table.key)))


class Workload:
    """Sessions that write until stop(); a lost connection is opened again, what was open is lost as for any client.

    pause_s, between two transactions of a session, is for a machine of usual speed: a slower one is given less to do,
    or what a fault held up would be caught up with more slowly than its limits are longer.
    """

    def __init__(
        self,
        dsn: str,
        seed: int,
        tables: tuple[Table, ...] = TABLES,
        sessions: int = 3,
        pause_s: float = 0.1,
        grows_at: Sequence[int] = (),
        sequel: type[Sequel] = Sequel,
    ) -> None:
        self._dsn = dsn
        machine = Machine()
        machine.look()
        self._pause_s = machine.limit(pause_s)
        self._stopping = threading.Event()
        sequels = [sequel(f"{seed}.{n}", tables, grows_at if n == 0 else ()) for n in range(sessions)]
        self._threads = [threading.Thread(target=self._session, args=[one], daemon=True) for one in sequels]
        self.committed = 0  # transactions; counted by several threads, so a little low
        self.failures: list[BaseException] = []

    def __enter__(self) -> "Workload":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join(60)
        assert kind or not self.failures, self.failures[0]

    def _session(self, sequel: Sequel) -> None:
        try:
            while not self._stopping.is_set():
                with suppress(psycopg.OperationalError), psycopg.connect(self._dsn, connect_timeout=3) as connection:
                    self._write(connection, sequel)
                self._stopping.wait(AFTER_A_LOST_CONNECTION_S)
        except BaseException as error:
            self.failures.append(error)

    def _write(self, connection: "psycopg.Connection[Any]", sequel: Sequel) -> None:
        while not self._stopping.is_set():
            try:
                self._perform(connection, *sequel.transaction())
            except CROSSED:
                connection.rollback()
            self._stopping.wait(self._pause_s)

    def _perform(self, connection: "psycopg.Connection[Any]", statements: list[Statement], commits: bool) -> None:
        perform(connection, statements)
        if not commits:
            connection.rollback()
            return
        connection.commit()
        self.committed += 1


def marker(table: Table, version: int) -> Statement:
    """A row that no transaction of the sequel meets, with the version given."""
    row = Sequel(str(version), (table,)).row(table)
    row.update({"version": version}, **dict.fromkeys(table.key, "-1"))
    return upsert(table, row)


def upsert(table: Table, row: dict[str, Any]) -> Statement:
    others = ", ".join(f"{name} = excluded.{name}" for name in row if name not in table.key)
    return _insert(table, row, f" ON CONFLICT ({', '.join(table.key)}) DO UPDATE SET {others}")


def perform(connection: "psycopg.Connection[Any]", statements: list[Statement]) -> None:
    """In the transaction that is open, or opens one."""
    for statement in statements:
        _execute(connection, statement)


def _execute(connection: "psycopg.Connection[Any]", statement: Statement) -> None:
    if not statement.rows:
        connection.execute(statement.sql.encode(), statement.values)
        return
    with connection.cursor().copy(statement.sql.encode()) as copy:
        for row in statement.rows:
            copy.write_row(row)


def until(
    is_so: Callable[[], bool],
    otherwise: str,
    within_s: float = 120.0,
    every_s: float = 0.1,
    details: Callable[[], str] = str,
) -> float:
    """Seconds until it was so; AssertionError, with the details of that moment, when it is not in time.

    within_s is for a machine of usual speed.
    """
    began, machine = time.monotonic(), Machine()
    while not is_so():
        if machine.late(time.monotonic() - began, within_s):
            raise AssertionError(f"{otherwise} within {machine.limit(within_s):.0f} s\n{details()}".rstrip())
        time.sleep(every_s)
    return time.monotonic() - began
