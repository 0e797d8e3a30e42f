"""One database with the shapes of tables in the field: captured by definitions without keys, and equal."""

import hmac
import json
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

import psycopg
import pytest

from lake.local.stack import Stack
from tests.clocks import HANG_S, until
from tests.integration import readers
from tests.running_lake import RunningLake

pytestmark = pytest.mark.integration
NAME = "shapes"
# FOUND are of a column that the lake has: a search that works finds them.
HIDDEN, HASHED, FOUND = ([token_hex(16) for _ in range(4)] for _ in range(3))
LARGE = token_hex(1600)
MADE = """\
CREATE TYPE pair AS (n int, t text);
CREATE TYPE floats AS RANGE (subtype = float8);
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE TABLE made (
  id int PRIMARY KEY, p pair, ps pair[], ds positive[], grid float8[][], f floats, fs floats[], bare float8[]);
INSERT INTO made VALUES
  (1, (1, 'a b'), ARRAY[(1, NULL)::pair, NULL, (NULL, NULL)::pair], '{1,NULL}', '{{1,2.5},{3,4}}', '[1,2)',
   '{"[1,2)"}', '{1.5}'),
  (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (3, (NULL, NULL), '{}', '{}', '{}', 'empty', '{}', '{}');
"""
MADE_ANEW = """\
INSERT INTO made SELECT id + 10, p, ps, ds, grid, f, fs, bare FROM made;
UPDATE made SET p = (2, 'say "x", (y)'), ps = ps || (3, '{}')::pair, grid = '[0:0][1:2]={{7,NULL}}' WHERE id IN (1, 2);
"""
# Subtransactions and savepoints, some rolled back; MERGE, ON CONFLICT, a writing CTE, a replication origin, DDL
# together with DML.
WRITTEN = """\
CREATE TYPE nothing AS ENUM ();
CREATE TABLE written (id int PRIMARY KEY, v text, letter "char", state nothing);
INSERT INTO written SELECT i, 'v', chr(64 + i)::"char" FROM generate_series(1, 5) i;
"""
WRITTEN_ANEW = """\
DO $$ BEGIN FOR i IN 10..209 LOOP BEGIN INSERT INTO written VALUES (i, 'sub'); IF i % 3 = 0 THEN RAISE 'back'; END IF; \
EXCEPTION WHEN raise_exception THEN UPDATE written SET v = 'sub' || i WHERE id = 1; END; END LOOP; END $$;
MERGE INTO written w USING (VALUES (1, 'm'), (2, NULL), (300, 'm')) s (id, v) ON w.id = s.id \
WHEN MATCHED AND s.v IS NULL THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v \
WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v);
INSERT INTO written VALUES (1, 'c'), (301, 'c') ON CONFLICT (id) DO UPDATE SET v = written.v || excluded.v;
BEGIN; INSERT INTO written VALUES (500, 'a'); SAVEPOINT one; UPDATE written SET v = 'lost' WHERE id = 500; \
SAVEPOINT two; DELETE FROM written WHERE id = 500; ROLLBACK TO one; INSERT INTO written VALUES (501, 'b'); COMMIT;
WITH gone AS (DELETE FROM written WHERE id IN (3, 300) RETURNING *) INSERT INTO written SELECT id + 400, v FROM gone;
SELECT pg_replication_origin_create('elsewhere'), pg_replication_origin_session_setup('elsewhere');
UPDATE written SET letter = '\\351' WHERE id > 3 AND id < 12;
SELECT pg_replication_origin_session_reset(), pg_replication_origin_drop('elsewhere');
BEGIN; ALTER TABLE written ADD more int; UPDATE written SET more = id WHERE id < 100; \
ALTER TYPE nothing ADD VALUE 'some'; COMMIT;
UPDATE written SET state = 'some' WHERE id = 1;
"""
SCHEMA = f"""
CREATE TABLE people (id int PRIMARY KEY, ssn text NOT NULL, email text NOT NULL, "userId" int, note text);
ALTER TABLE people ALTER email SET STORAGE EXTERNAL;
INSERT INTO people VALUES (1, '{HIDDEN[0]}', '{HASHED[0]}', 1, '{FOUND[0]}'), (2, 'x', '{LARGE}', 2, 'y');
INSERT INTO people VALUES (3, 'x', 'y', 3, '');
CREATE TABLE plain (id int PRIMARY KEY, v text);
CREATE TABLE reversed (a int, b text, v text, PRIMARY KEY (b, a));
CREATE TABLE deferred (id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED, v text);
CREATE TABLE indexed (code text NOT NULL, n int NOT NULL, v text, UNIQUE (code, n));
CREATE TABLE by_index (code int NOT NULL UNIQUE, v text);
CREATE TABLE stored (id int PRIMARY KEY, n int, twice int GENERATED ALWAYS AS (n * 2) STORED);
CREATE TABLE virtual (id int PRIMARY KEY, n int, twice int GENERATED ALWAYS AS (n * 2) VIRTUAL);
CREATE TABLE parted (id int, region text, v text, PRIMARY KEY (id, region)) PARTITION BY LIST (region);
CREATE TABLE parted_a PARTITION OF parted FOR VALUES IN ('a');
CREATE TABLE parent (id int PRIMARY KEY, v text);
CREATE TABLE child (id int PRIMARY KEY) INHERITS (parent);
CREATE TABLE keyless (v text);
{MADE}{WRITTEN}CREATE TABLE lines (line text, n int);
INSERT INTO lines SELECT 'same', i % 2 FROM generate_series(1, 6) i;
CREATE TABLE copies (line text, n int, large text);
ALTER TABLE copies ALTER large SET STORAGE EXTERNAL;
INSERT INTO copies SELECT 'same', 1 FROM generate_series(1, 5);
INSERT INTO copies SELECT 'large', 1, repeat('x', 9000) FROM generate_series(1, 2);
CREATE TABLE "OrderItem" ("userId" int PRIMARY KEY, "first name" text, "größe" text);
CREATE SCHEMA archive;
CREATE TABLE archive.plain (id int PRIMARY KEY, v text);
INSERT INTO "OrderItem" SELECT i, 'a b', 'L' FROM generate_series(1, 3) i;
INSERT INTO archive.plain SELECT i, 'old' || i FROM generate_series(1, 3) i;
CREATE VIEW seen AS SELECT id FROM plain;
INSERT INTO plain SELECT i, 'v' || i FROM generate_series(1, 5) i;
INSERT INTO reversed SELECT i, 'b' || i, 'v' FROM generate_series(1, 5) i;
INSERT INTO deferred SELECT i, 'v' FROM generate_series(1, 5) i;
INSERT INTO indexed SELECT 'c', i, 'v' FROM generate_series(1, 5) i;
INSERT INTO by_index SELECT i, 'v' FROM generate_series(1, 5) i;
INSERT INTO stored SELECT i, i FROM generate_series(1, 5) i;
INSERT INTO virtual SELECT i, i FROM generate_series(1, 5) i;
INSERT INTO parted SELECT i, 'a', 'v' FROM generate_series(1, 5) i;
INSERT INTO parent VALUES (1, 'v');
INSERT INTO child VALUES (2, 'v');
"""
ONE = {"types": ["mor"]}
TABLES = {
    "plain": ONE,
    "reversed": {**ONE, "key": ["a", "b"]},
    "deferred": ONE,
    "indexed": ONE,
    "by_index": {**ONE, "replica_identity": "index"},
    "stored": ONE,
    "virtual": {**ONE, "replica_identity": "default"},
    "parted": ONE,
    "people": {
        **ONE,
        "replica_identity": "default",
        "columns": {"ssn": "drop", "email": "hash", "userId": {"lake_name": "user_id"}},
    },
    "made": ONE,
    "written": ONE,
    "lines": {**ONE, "without_key": "append"},
    "copies": {"types": ["cow", "mor"], "without_key": "multiset"},
    "OrderItem": ONE,
    "archive.plain": ONE,
}
REFUSED = {
    "parent": "tables inherit from public.parent",
    "parted_a": "is a partition of public.parted",
    "keyless": "no unique index that can identify its rows",
    "seen": "is a view",
}
CHANGES = f"""
INSERT INTO people VALUES (4, '{HIDDEN[1]}', '{HASHED[1]}', 4, '{FOUND[1]}');
UPDATE people SET note = 'the large value is not sent' WHERE id = 2;
UPDATE people SET id = 5, ssn = '{HIDDEN[2]}' WHERE id = 1;
DELETE FROM people WHERE id = 3;
UPDATE plain SET v = 'new' WHERE id = 1;
UPDATE reversed SET v = 'new' WHERE a = 1;
UPDATE deferred SET id = id + 10;
UPDATE deferred SET v = 'v' || id;
UPDATE deferred SET id = CASE id WHEN 11 THEN 12 WHEN 12 THEN 11 ELSE id END;
UPDATE deferred SET id = id + 1;
ALTER TABLE plain ADD __deleted text;
INSERT INTO plain VALUES (6, 'v', 'kept');
UPDATE plain SET __deleted = 'true' WHERE id = 4;
UPDATE "OrderItem" SET "userId" = 9, "größe" = 'XL' WHERE "userId" = 1;
DELETE FROM "OrderItem" WHERE "userId" = 2;
UPDATE archive.plain SET v = 'new' WHERE id = 1;
DELETE FROM archive.plain WHERE id = 2;
UPDATE indexed SET n = n + 10 WHERE n > 3;
UPDATE indexed SET v = 'new' WHERE n = 1;
DELETE FROM indexed WHERE n = 2;
UPDATE by_index SET v = 'new' WHERE code = 1;
UPDATE by_index SET code = 20 WHERE code = 2;
DELETE FROM by_index WHERE code = 3;
UPDATE stored SET n = 7 WHERE id = 1;
DELETE FROM stored WHERE id = 2;
UPDATE virtual SET n = 7 WHERE id = 1;
DELETE FROM virtual WHERE id = 2;
INSERT INTO stored VALUES (6, 6);
CREATE TABLE parted_b PARTITION OF parted FOR VALUES IN ('b');
INSERT INTO parted VALUES (6, 'b', 'v');
CREATE TABLE parted_c (LIKE parted INCLUDING INDEXES);
INSERT INTO parted SELECT i, 'a', 'v' FROM generate_series(7, 8) i;
ALTER TABLE parted ATTACH PARTITION parted_c FOR VALUES IN ('c');
INSERT INTO parted VALUES (9, 'c', 'v');
UPDATE parted SET v = 'new';
DELETE FROM parted WHERE id = 1;
{MADE_ANEW}{WRITTEN_ANEW}INSERT INTO lines VALUES ('same', 1), ('new', NULL), ('same', 1);
COPY lines FROM PROGRAM 'yes same,1 | head -n 40' WITH (FORMAT csv);
DELETE FROM copies WHERE ctid = (SELECT min(ctid) FROM copies);
UPDATE copies SET n = 2 WHERE line = 'large';
UPDATE copies SET n = n WHERE line = 'same';
INSERT INTO copies VALUES ('new', 1), ('new', 1), ('same', 1);
UPDATE copies SET line = 'same' WHERE ctid = (SELECT max(ctid) FROM copies WHERE line = 'new');
BEGIN; INSERT INTO copies VALUES ('passes', 1); UPDATE copies SET n = 2 WHERE line = 'passes'; \
DELETE FROM copies WHERE line = 'passes'; COMMIT;
ALTER TABLE copies ADD more text;
UPDATE copies SET more = 'more' WHERE ctid = (SELECT min(ctid) FROM copies);
DELETE FROM copies WHERE ctid = (SELECT max(ctid) FROM copies WHERE line = 'large');
UPDATE parent SET v = 'new';
DELETE FROM child;
"""


@pytest.fixture(scope="module")
def shapes(lake: RunningLake) -> Iterator[RunningLake]:
    lake.execute("postgres", f"CREATE DATABASE {NAME}")
    with psycopg.connect(lake.home.dsn(NAME)) as connection:
        connection.execute(SCHEMA.encode())
    yield lake
    lake.forget(NAME)


def define(lake: RunningLake, tables: dict[str, object]) -> None:
    named = {name if "." in name else f"public.{name}": settings for name, settings in tables.items()}
    lake.define(NAME, {name: dict(settings) for name, settings in named.items()})  # type: ignore[call-overload]


def test_every_shape_is_captured_and_equal_and_what_is_refused_is_named_at_once(shapes: RunningLake) -> None:
    define(shapes, {**TABLES, **dict.fromkeys(REFUSED, ONE)})
    done = shapes.run("apply", check=False)
    assert done.returncode == 2, done.stderr
    said = [line for line in done.stderr.splitlines() if line.startswith("lake: ")]
    assert len(said) == len(REFUSED)
    for words in REFUSED.values():
        assert any(words in line for line in said), said
    again = shapes.run("plan", check=False)
    planned = [line for line in again.stdout.splitlines() if not line.startswith(("left ", " "))]  # left by other tests
    assert (again.returncode, planned) == (2, [])
    define(shapes, TABLES)
    shapes.drain(NAME)
    with psycopg.connect(shapes.home.dsn(NAME), autocommit=True) as connection:
        for statement in CHANGES.strip().split(";\n"):
            connection.execute(statement.encode())
    shapes.apply()  # the identities of new partitions
    shapes.drain(NAME)
    proof = shapes.json("verify", NAME, "--timeout", str(int(HANG_S)))
    assert proof["equal"], proof


def test_a_stored_generated_column_that_a_migration_adds_breaks_no_update(shapes: RunningLake) -> None:
    shapes.execute(
        NAME,
        "ALTER TABLE plain ADD g int GENERATED ALWAYS AS (id * 2) STORED",
        "UPDATE plain SET v = 'migrated' WHERE id = 2",
        "DELETE FROM plain WHERE id = 3",
    )
    shapes.apply()
    shapes.drain(NAME)
    assert shapes.json("verify", f"{NAME}.plain")["equal"]


def test_a_large_value_is_kept_though_somebody_took_the_identity_full_away(shapes: RunningLake) -> None:
    """The message of the update lacks it (field case 21): the row has the stored one."""
    shapes.execute(
        NAME,
        "ALTER TABLE plain ALTER v SET STORAGE EXTERNAL",
        "UPDATE plain SET v = repeat('x', 32000) WHERE id = 4",
        "ALTER TABLE plain REPLICA IDENTITY DEFAULT",
        "UPDATE plain SET __deleted = 'x' WHERE id = 4",
    )
    shapes.drain(NAME)
    until(lambda: "identity" in shapes.run("status", check=False).stdout, "it is not said")
    assert shapes.json("verify", f"{NAME}.plain")["equal"]
    shapes.apply()


def test_a_connector_that_failed_runs_again_after_an_apply(shapes: RunningLake) -> None:
    shapes.execute(NAME, "ALTER PUBLICATION lake_shapes RENAME TO away")
    shapes.run("connectors", "restart", NAME, check=False)
    until(lambda: "FAILED" in shapes.run("status", check=False).stdout, "the connector does not fail")
    shapes.execute(NAME, "ALTER PUBLICATION away RENAME TO lake_shapes")
    assert shapes.run("apply", check=False).returncode == 0
    shapes.execute(NAME, "UPDATE plain SET v = 'after' WHERE id = 2")
    shapes.drain(NAME)
    assert shapes.json("verify", f"{NAME}.plain")["equal"]


def test_rows_of_a_multiset_are_counted_though_connect_sends_them_again(shapes: RunningLake) -> None:
    more = ["INSERT INTO copies VALUES ('same', 1), ('other', 1)", "DELETE FROM copies WHERE line = 'other'"]
    shapes.execute(NAME, *more, "DELETE FROM copies WHERE ctid = (SELECT min(ctid) FROM copies WHERE line = 'same')")
    shapes.drain(NAME)
    kill_connect(Stack(shapes.home))
    shapes.execute(NAME, *more, "UPDATE copies SET n = n + 1 WHERE line = 'same'")
    shapes.drain(NAME)
    proof = shapes.json("verify", f"{NAME}.copies", "--timeout", str(int(HANG_S)))
    assert proof["equal"], proof


def kill_connect(stack: Stack) -> None:
    """kill -9, and wait until it answers again."""
    supervisor, service = stack.supervisors["connect"], stack.service("connect")
    killed = supervisor.state().pid
    os.kill(killed, signal.SIGKILL)
    until(lambda: supervisor.state().pid not in (0, killed) and service.ready(), "connect does not start again")


def test_rows_without_a_key_that_join_are_read_with_all_tables(shapes: RunningLake) -> None:
    """Each of them once, though the stream has some of them, too; those of before are gone with their names."""
    shapes.execute(NAME, "CREATE TABLE joined (line text)", "INSERT INTO joined VALUES ('before'), ('before')")
    define(shapes, {**TABLES, "joined": {**ONE, "without_key": "append"}})
    shapes.apply()
    shapes.execute(NAME, "INSERT INTO joined VALUES ('between')", "INSERT INTO lines VALUES ('between', 1)")
    until(lambda: "are not read yet" in shapes.run("status", check=False).stdout, "it is not said")
    proof = shapes.json("recover", NAME)
    assert proof["equal"], proof
    assert proof["verify"]["tables"][f"{NAME}.public.joined"]["rows"]["rt"] == 3


def holders(lake: RunningLake, text: str) -> list[str]:
    """The files of the lake that have a text, but for those of the source itself."""
    return [str(path) for path in files_of(lake) if text.encode() in content(path)]


def files_of(lake: RunningLake) -> Iterator[Path]:
    own = [folder for folder in lake.home.data.iterdir() if folder.name != "postgres"]
    return (path for folder in own for path in [folder, *folder.rglob("*")] if path.is_file())


def content(path: Path) -> bytes:
    with suppress(FileNotFoundError):
        return path.read_bytes()
    return b""


def test_what_is_dropped_or_hashed_is_nowhere_in_the_lake(shapes: RunningLake) -> None:
    """Not even after a migration that renames the column, and adds one. No apply after it: none takes the rename."""
    shapes.execute(
        NAME,
        "ALTER TABLE people RENAME ssn TO social",
        "ALTER TABLE people ADD phone text",
        f"INSERT INTO people VALUES (6, '{HIDDEN[3]}', '{HASHED[2]}', 6, '{FOUND[2]}', '{HASHED[3]}')",
    )
    shapes.drain(NAME)
    proof = shapes.run("verify", f"{NAME}.people", "--json")
    assert json.loads(proof.stdout)["tables"][f"{NAME}.public.people"]["left_out"] == ["social", "phone"]
    assert [(text, holders(shapes, text)) for text in [*HIDDEN, *HASHED, LARGE[:32]] if holders(shapes, text)] == []
    assert not any(text in proof.stdout + proof.stderr for text in [*HIDDEN, *HASHED])
    key = shapes.home.secrets.column_hashes.encode()
    hashes = [hmac.new(key, text.encode(), "sha256").hexdigest() for text in HASHED[:3]]
    sent = b"".join(readers.topic_values(shapes.home, f"{NAME}.public.people"))  # its files are compressed
    assert [text for text in [*HIDDEN, *HASHED, LARGE[:32]] if text.encode() in sent] == []
    assert [text for text in [*FOUND[:3], *hashes] if text.encode() not in sent] == []
    assert [
        path for path in holders(shapes, key.decode()) if not path.endswith(("secrets.json", "hashes.properties"))
    ] == []


def test_a_delete_of_a_row_that_the_lake_has_otherwise_is_named(shapes: RunningLake) -> None:
    """The default of an added column is in the rows that were there before, and not in those of the lake."""
    shapes.execute(NAME, "ALTER TABLE copies ADD state int DEFAULT 1", "DELETE FROM copies")
    until(lambda: "a row that the lake does not have" in shapes.run("status", check=False).stdout, "it is not said")


def test_an_update_of_an_append_only_table_is_named_and_not_applied(shapes: RunningLake) -> None:
    """After all others: its table stops, and nothing waits for it any more."""
    shapes.execute(NAME, "UPDATE lines SET n = 7 WHERE line = 'new'")
    until(lambda: "without_key: append" in shapes.run("status", check=False).stdout, "it is not said")
