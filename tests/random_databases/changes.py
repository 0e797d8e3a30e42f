"""What an application does with a table: each function gives the SQL of one transaction."""

from collections.abc import Callable
from random import Random

from tests.random_databases.quoting import listed, name, value
from tests.random_databases.tables import Column, Row, Table


def insert(chooser: Random, table: Table, rows: int = 0) -> str:
    new = [table.next_row(chooser) for _ in range(rows or chooser.randint(1, 4))]
    table.rows += new
    return _insert(chooser, table, new)


def _insert(chooser: Random, table: Table, rows: list[Row]) -> str:
    written = [column.name for column in table.written]
    values = ", ".join(f"({', '.join(_values(chooser, table, row))})" for row in rows)
    return f"INSERT INTO {table.sql} ({listed(written)}) VALUES {values}"


def _values(chooser: Random, table: Table, row: Row) -> list[str]:
    return [value(row[one.name]) if one.name in row else _some(chooser, one) for one in table.written]


def _some(chooser: Random, column: Column) -> str:
    is_null = column.null and chooser.random() < 0.15
    return value(None if is_null else column.kind.some(chooser))


def update(chooser: Random, table: Table) -> str:
    columns = chooser.sample(table.free, min(len(table.free), chooser.randint(1, 3)))
    new = ", ".join(f"{name(column.name)} = {_some(chooser, column)}" for column in columns)
    return f"UPDATE {table.sql} SET {new} WHERE {table.where(table.find(chooser))}"


def update_all(chooser: Random, table: Table) -> str:
    column = chooser.choice(table.free)
    return f"UPDATE {table.sql} SET {name(column.name)} = {_some(chooser, column)}"


def delete(chooser: Random, table: Table) -> str:
    row = table.find(chooser)
    table.forget(row)
    return f"DELETE FROM {table.sql} WHERE {table.where(row)}"


def replace(chooser: Random, table: Table) -> str:
    """Delete and insert of one key, in one transaction."""
    row = table.find(chooser)
    return f"DELETE FROM {table.sql} WHERE {table.where(row)}; {_insert(chooser, table, [row])}"


def change_key(chooser: Random, table: Table) -> str:
    old, new = table.find(chooser), table.next_row(chooser)
    table.forget(old)
    table.rows.append(new)
    return _rekey(table, old, new)


def _rekey(table: Table, old: Row, new: Row) -> str:
    given = ", ".join(f"{name(known)} = {value(found)}" for known, found in new.items())
    return f"UPDATE {table.sql} SET {given} WHERE {table.where(old)}"


def rotate(chooser: Random, table: Table) -> str:
    """Two rows change their keys, by way of a third."""
    if len(table.rows) < 2:
        return insert(chooser, table)
    one, other = chooser.sample(table.rows, 2)
    spare = table.next_row(chooser)
    return "; ".join([_rekey(table, one, spare), _rekey(table, other, one), _rekey(table, spare, other)])


def swap(chooser: Random, table: Table) -> str:
    """Two rows change their keys in one statement, which only a deferrable key allows."""
    if len(table.rows) < 2 or table.shape != "deferrable":
        return update(chooser, table)
    column = table.column(table.found_by[0])
    one, other = (row[column.name] for row in chooser.sample(table.rows, 2))
    quoted, kind = name(column.name), column.kind.type
    cases = f"WHEN {value(one)} THEN {value(other)}::{kind} WHEN {value(other)} THEN {value(one)}::{kind}"
    return f"UPDATE {table.sql} SET {quoted} = CASE {quoted} {cases} ELSE {quoted} END"


def respell(chooser: Random, table: Table) -> str:
    """A key becomes an equal one in another form."""
    column = table.column(table.found_by[0])
    before, after = column.kind.respelled or ("", "")
    if not after or not any(row[column.name] == before for row in table.rows):
        return update_all(chooser, table)
    known = name(column.name)
    return f"UPDATE {table.sql} SET {known} = {value(after)} WHERE {known} = {value(before)}"


def upsert(chooser: Random, table: Table) -> str:
    if table.shape not in ("keyed", "composite", "partitioned", "generated"):
        return insert(chooser, table)
    new, known = table.next_row(chooser), table.find(chooser)
    table.rows.append(new)
    column = name(chooser.choice(table.free).name)
    then = f"ON CONFLICT ({listed(table.found_by)}) DO UPDATE SET {column} = excluded.{column}"
    return f"{_insert(chooser, table, [new, known])} {then}"


def give_up(chooser: Random, table: Table) -> str:
    """Half of a transaction is taken back."""
    undone = f"DELETE FROM {table.sql}"
    return f"BEGIN; SAVEPOINT half; {undone}; ROLLBACK TO half; {update(chooser, table)}; COMMIT"


def talk(chooser: Random, table: Table) -> str:
    """A message in the log, which no table has."""
    given = chooser.choice(["false", "true"])
    return f"SELECT pg_logical_emit_message({given}, 'app', 'hello'); {update(chooser, table)}"


Change = Callable[[Random, Table], str]
WEIGHTS: dict[Change, int] = {
    insert: 10,
    update: 14,
    update_all: 3,
    delete: 6,
    replace: 3,
    change_key: 4,
    rotate: 2,
    swap: 3,
    respell: 3,
    upsert: 4,
    give_up: 2,
    talk: 1,
}


def some(chooser: Random, table: Table) -> str:
    if not table.rows:
        return insert(chooser, table)
    (change,) = chooser.choices(list(WEIGHTS), list(WEIGHTS.values()))
    return change(chooser, table)
