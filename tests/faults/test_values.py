"""Values, names and sizes at the edge of what is possible."""

from collections.abc import Sequence
from dataclasses import replace

import psycopg
import pytest

from tests.faults import source
from tests.faults.process_faults import pid_of
from tests.faults.rig import Rig
from tests.faults.source import COW, MOR, Table
from tests.faults.test_messages import archived_to
from tests.faults.trial import Entry, conclude
from tests.faults.workload import STRANGE
from tests.integration import readers

pytestmark = pytest.mark.faults
LIMIT = 16 * 1024 * 1024  # bytes of a message
COLUMNS = 1000
ROWS_AT_ONCE = 1_000_000
MB_AT_ONCE = 1000
STOPS_WITHIN_S = 120.0
LARGE_WITHIN_S = 900.0  # all of it is in the lake
# The local object store keeps objects as files: 255 bytes are the longest name of a folder, "place=" is of it.
LONGEST = "x" * (255 - len("place="))
SLASHED = "a/b"  # a row that stays where it is
PLACES = ["/", SLASHED, "=", "%", "%2F", ":", "a b", "'", "#", "+", "..", ".", "", None, LONGEST, "Twin", "twin", "é日"]
KEYED = Table("keyed", "id text PRIMARY KEY, version bigint NOT NULL, v text", settings=COW)
PLACED = Table(
    "placed", "id int PRIMARY KEY, version bigint NOT NULL, v text, place text", settings={"partition": "place"}
)
WIDE = Table(
    "wide",
    "id int PRIMARY KEY, version bigint NOT NULL, v text, " + ", ".join(f"c{n} int" for n in range(COLUMNS - 3)),
    settings=MOR,
)
# By type of the partition column: a literal for each row. The second moves to the first, the last is deleted.
PLACED_BY = {
    "int": ["0", "5", "-1", "2147483647", "NULL", "7"],
    "bigint": ["0", "5", "-1", "9223372036854775807", "NULL", "7"],
    "date": [
        "DATE '2020-02-29'",
        "DATE '2021-01-01'",
        "DATE '0001-01-01'",
        "DATE '9999-12-31'",
        "NULL",
        "DATE '1969-12-31'",
    ],
    "boolean": ["true", "false", "false", "true", "NULL", "false"],
}
NAMES = ["a" * 63, "Mixed", "UPPER", "select", "from", "order", "timestamp", "user", "_under", "__two", "date"]
NAMED = Table(
    "t" * 63,
    "id int PRIMARY KEY, version bigint NOT NULL, v text, " + ", ".join(f'"{name}" text' for name in NAMES),
)
BYTES = Table("bytes", "id int PRIMARY KEY, version bigint NOT NULL, v text, b bytea", settings=COW)
HUGE = Table("huge", "id int PRIMARY KEY, version bigint NOT NULL, v text STORAGE EXTERNAL", settings=MOR)
ASIDE = replace(HUGE, settings={**MOR, "on_bad_message": "quarantine"})
# Text that no compression makes smaller than half.
TEXT = "(SELECT string_agg(md5(i::text), '') FROM generate_series(1, {size} / 32) i)"
LARGE = f"INSERT INTO huge SELECT {{key}}, 1, {TEXT}"
WIDEN = f"UPDATE huge SET version = 1, v = {TEXT} WHERE id = {{key}}"

MEGABYTES = f"""
SELECT i, i, (SELECT string_agg(md5((i * n)::text), '') FROM generate_series(1, {1024 * 1024 // 32}) n)
FROM generate_series(1, {MB_AT_ONCE}) i
"""


def insert(rig: Rig, database: str, table: Table, values: Sequence[object]) -> None:
    """A row per value, which is the key or the place."""
    with rig.session(database) as connection:
        for number, value in enumerate(values):
            if table is KEYED:
                connection.execute("INSERT INTO keyed VALUES (%s, %s, %s)", [value, number, value])
            else:
                connection.execute("INSERT INTO placed VALUES (%s, %s, 'v', %s)", [number, number, value])
        connection.commit()


@pytest.mark.matrix("22", "a row of nine tenths of the largest message")
def test_large_row(rig: Rig, entry: Entry) -> None:
    with rig.temporary((HUGE,)) as database:
        rig.execute(database, LARGE.format(key=1, size=LIMIT * 9 // 10), "UPDATE huge SET version = 2")
        conclude(rig, entry, database, [])


@pytest.mark.matrix("22", "a row greater than the largest message is set aside, the table and the others continue")
def test_too_large_row(rig: Rig, entry: Entry) -> None:
    """One is made smaller then, and one deleted: all is equal in the end."""
    with rig.temporary((ASIDE, KEYED)) as database:
        rig.execute(
            database,
            "INSERT INTO huge VALUES (77, 0, 'small')",
            LARGE.format(key=78, size=LIMIT * 11 // 10),
            WIDEN.format(key=77, size=LIMIT * 11 // 10),
        )
        rig.reach(database)  # by new rows of both tables
        found = [one["reason"] for one in rig.lake.json("quarantine", "list", database)]
        assert [one.split(" has ")[0] for one in found] == ["the row with id=78", "the row with id=77"], found
        told = rig.lake.json("verify", database)["tables"][f"{database}.public.huge"]
        assert {one["where"] for one in told["differences"]} >= {"quarantine"}, told
        rig.execute(
            database,
            "UPDATE huge SET v = 'small again', version = 2 WHERE id = 77",
            "DELETE FROM huge WHERE id = 78",
        )
        rig.reach(database)
        archived_to(rig, database, readers.end_of(rig.home, f"{database}.public.huge"), "huge")
        assert len(rig.lake.json("quarantine", "drop", database, "--yes")["dropped"]) == 2
        proof = rig.lake.json("verify", database)
        assert proof["equal"], proof


@pytest.mark.matrix("22", "a row greater than the largest message stops its table, and no other", phase="snapshot")
def test_too_large_row_in_a_snapshot(rig: Rig, entry: Entry) -> None:
    database = rig.new_name()
    rig.create(database, (HUGE, KEYED))
    rig.execute(database, LARGE.format(key=77, size=LIMIT * 11 // 10))
    rig.capture(database)
    try:
        rig.wait_until_stopped(f"{database}_mor.huge", STOPS_WITHIN_S)
        assert "the row with id=77 has " in rig.table_status(f"{database}_mor.huge")["reason"]
        rig.databases[database] = (KEYED,)
        rig.reach(database)
        assert rig.source_status(database)["tasks"] == ["RUNNING"]
    finally:
        rig.remove(database)


@pytest.mark.matrix("22", f"{ROWS_AT_ONCE} rows in one transaction")
def test_large_transaction(rig: Rig, entry: Entry) -> None:
    with rig.temporary((KEYED,)) as database:
        with rig.session(database) as connection:
            source.fill(connection, KEYED, f"SELECT i, i, i FROM generate_series(1, {ROWS_AT_ONCE}) i")
        rig.come_to_rest(database, LARGE_WITHIN_S)
        conclude(rig, entry, database, [])


@pytest.mark.matrix("22", f"{MB_AT_ONCE} rows of 1 MB in one transaction")
def test_large_transaction_of_large_rows(rig: Rig, entry: Entry) -> None:
    with rig.temporary((HUGE,)) as database:
        with rig.session(database) as connection:
            source.fill(connection, HUGE, MEGABYTES)
        before = {service: pid_of(rig, service) for service in ("stream", "connect")}
        rig.come_to_rest(database, LARGE_WITHIN_S)
        assert {service: pid_of(rig, service) for service in before} == before, "one ended, and began anew"
        rig.lake.run("verify", database)
        conclude(rig, entry, database, [])


@pytest.mark.matrix("23", f"{COLUMNS} columns")
def test_wide_table(rig: Rig, entry: Entry) -> None:
    with rig.temporary((WIDE,)) as database:
        rig.execute(
            database,
            f"INSERT INTO wide SELECT i, i, 'v', {', '.join(['i'] * (COLUMNS - 3))} FROM generate_series(1, 50) i",
            f"UPDATE wide SET c{COLUMNS - 4} = -1, version = 1000 + id WHERE id < 20",
            "DELETE FROM wide WHERE id = 50",
        )
        conclude(rig, entry, database, [])


@pytest.mark.matrix("23", "names that differ by case only are refused")
def test_names(rig: Rig, entry: Entry) -> None:
    with rig.temporary((KEYED,)) as database:
        rig.execute(database, 'CREATE TABLE odd (id int PRIMARY KEY, v text, "V" text)')
        tables = {"public.keyed": KEYED.definition, "public.odd": {"key": ["id"]}}
        rig.lake.define(database, tables)
        done = rig.lake.run("plan", check=False)
        assert (done.returncode, "column" in done.stderr) == (2, True), done.stderr


@pytest.mark.matrix("23", "names that the lake's own columns have: ")
@pytest.mark.parametrize("name", ["__op", "_hoodie_commit_time", "a.b"])
def test_names_of_the_lake(rig: Rig, entry: Entry, name: str) -> None:
    with rig.temporary((KEYED,)) as database:
        rig.execute(
            database,
            f'CREATE TABLE odd (id int PRIMARY KEY, v text, "{name}" text)',
            "INSERT INTO odd VALUES (1, 'v', 'kept')",
        )
        rig.lake.define(database, {"public.keyed": KEYED.definition, "public.odd": {"key": ["id"]}})
        rig.lake.apply()
        assert rig.lake.json("verify", f"{database}.odd")["equal"]


@pytest.mark.matrix("23", "names of 63 bytes, reserved words, capital letters")
def test_names_that_are_taken(rig: Rig, entry: Entry) -> None:
    with rig.temporary((NAMED,)) as database:
        values = ", ".join(f"'{number} ' || i" for number in range(len(NAMES)))
        rig.execute(
            database,
            f"INSERT INTO {NAMED.name} SELECT i, i, 'v', {values} FROM generate_series(1, 5) i",
            f'UPDATE {NAMED.name} SET "Mixed" = \'changed\', "select" = NULL, version = 1000 + id WHERE id < 3',
            f"DELETE FROM {NAMED.name} WHERE id = 5",
        )
        conclude(rig, entry, database, [])
        proof = rig.lake.json("verify", database)
        assert proof["equal"], proof


@pytest.mark.matrix("24", "NUL, which PostgreSQL refuses in every text, is kept as a byte")
def test_nul(rig: Rig, entry: Entry) -> None:
    with rig.temporary((BYTES,)) as database:
        for text in ("E'a\\000b'", "'a\\u0000b'::jsonb::text"):
            with pytest.raises(psycopg.DataError):
                rig.execute(database, f"INSERT INTO bytes VALUES (1, 1, {text}, '')")
        rig.execute(
            database, "INSERT INTO bytes SELECT i, i, '', decode(repeat('00', i), 'hex') FROM generate_series(0, 3) i"
        )
        conclude(rig, entry, database, [])


@pytest.mark.matrix("24", "texts in values and keys: emoji, right to left, line ends, quotes, 1 MB")
def test_texts(rig: Rig, entry: Entry) -> None:
    with rig.temporary((KEYED,)) as database:
        insert(rig, database, KEYED, [text for text in STRANGE if text] + ["k" * 2600, "_", " ", "\u00e9"])
        rig.execute(
            database,
            "UPDATE keyed SET v = repeat('1 MB ж', 150000) WHERE id = '_'",
            "DELETE FROM keyed WHERE id LIKE '%\"%'",
        )
        conclude(rig, entry, database, [])


@pytest.mark.matrix("24", "an empty text as the key, which Hudi refuses, is encoded")
def test_empty_key(rig: Rig, entry: Entry) -> None:
    with rig.temporary((KEYED,)) as database:
        insert(rig, database, KEYED, ["a", "", "b"])
        conclude(rig, entry, database, [])


@pytest.mark.matrix("25", "a partition column of another type than text: ")
@pytest.mark.parametrize("kind", PLACED_BY)
def test_partition_types(rig: Rig, entry: Entry, kind: str) -> None:
    """Equal in all, and found in the folder that a query's condition names."""
    values = PLACED_BY[kind]
    table = replace(PLACED, columns=f"id int PRIMARY KEY, version bigint NOT NULL, v text, place {kind}")
    with rig.temporary((table,)) as database:
        rows = ", ".join(f"({number}, {number}, 'v', {value})" for number, value in enumerate(values))
        rig.execute(
            database,
            f"INSERT INTO placed VALUES {rows}",
            f"UPDATE placed SET place = {values[0]}, version = 1001 WHERE id = 1",
            "UPDATE placed SET v = 'changed', version = version + 1000 WHERE id IN (2, 4)",
            "DELETE FROM placed WHERE id = 5",
        )
        rig.lake.drain(database)
        proof = rig.lake.json("verify", database)  # which knows types that the checker does not
        assert proof["equal"], proof
        for name in (f"{database}_cow.placed", f"{database}_mor.placed_rt"):
            found = rig.lake.json(
                "sql", f"SELECT id FROM {name} WHERE place = {values[0]} AND id IN (0, 1) ORDER BY id"
            )
            assert found["rows"] == [{"id": 0}, {"id": 1}], found


@pytest.mark.matrix("25", "partition values: / = % : .. space quotes, empty, NULL, twins in case, long")
def test_places(rig: Rig, entry: Entry) -> None:
    with rig.temporary((PLACED,)) as database:
        insert(rig, database, PLACED, list(PLACES))
        rig.execute(
            database,
            "UPDATE placed SET v = 'changed', version = version + 1000 WHERE id % 2 = 0",
            "UPDATE placed SET place = 'elsewhere', version = version + 1000 WHERE id % 3 = 0",
            "DELETE FROM placed WHERE id % 5 = 0",
        )
        conclude(rig, entry, database, [])
        proof = rig.lake.json("verify", database)  # which reads by name, too
        assert proof["equal"], proof
        for kind in PLACED.types:
            folder = f"silver/{database}/placed_{kind}/"
            kept = [key.removeprefix(folder) for key in readers.object_keys(rig.home, folder)]
            assert [key for key in kept if not key.startswith(("place=", ".hoodie/"))] == [], "outside its folder"
        found = rig.lake.json("sql", f"SELECT id FROM {database}_mor.placed_rt WHERE place = '{SLASHED}'")
        assert found["rows"] == [{"id": PLACES.index(SLASHED)}]
