"""Large values that a change left alone, under REPLICA IDENTITY DEFAULT: the lake has each, of the right version."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from pyspark.sql import SparkSession

from lake.clients import stream_status
from lake.local.stack import Stack
from spark_jobs.events import toast
from spark_jobs.parity.compare import PLACEHOLDER
from tests.integration import own_table, readers
from tests.running_lake import RunningLake

pytestmark = [pytest.mark.integration, pytest.mark.slow]
NAME = "torn"
DEFAULT = {"replica_identity": "default"}
TABLES: dict[str, dict[str, Any]] = {
    "doc": {"key": ["id"], **DEFAULT},
    "placed": {"key": ["id"], "partition": "place", **DEFAULT},
    "pair": {"key": ["a", "b"], **DEFAULT, "types": ["mor"]},
    "many": {"key": ["id"], **DEFAULT},
    "sited": {"key": ["id"], "partition": "place", **DEFAULT},
}
LARGE = (
    "t text, v varchar, c char(4000), bb bytea, j json, jb jsonb, a text[], i int[], l bigint[], u uuid[], f float8[], "
    "d numeric, nn text NOT NULL, q tsvector, vb varbit, m int4multirange, da numeric[], ba bytea[]"
)
SCHEMA = f"""
CREATE FUNCTION large(seed int) RETURNS text LANGUAGE sql IMMUTABLE
    AS $$ SELECT string_agg(md5((i * seed)::text), '') FROM generate_series(1, 90) i $$;
CREATE TABLE doc (id int PRIMARY KEY, n int, {LARGE});
CREATE TABLE placed (id int PRIMARY KEY, place text, n int, t text);
CREATE TABLE pair (a text, b int, n int, t text, PRIMARY KEY (a, b));
CREATE TABLE many (id int PRIMARY KEY, n int, t text, b bytea);
CREATE TABLE sited (id int PRIMARY KEY, place text, n int, t text);
"""
NUMBERS = "ARRAY(SELECT i * {seed} FROM generate_series(1, 900) i)"
ROW = (
    "INSERT INTO doc SELECT {key}, 0, s, s, s, s::bytea, json_build_object('k', s), jsonb_build_object('k', s), "
    "string_to_array(s, 'a'), {numbers}, {numbers}, ARRAY(SELECT md5((i * {seed})::text)::uuid FROM "
    "generate_series(1, 200) i), {numbers}::float8[], translate(s || s, 'abcdef', '123456')::numeric, s, "
    "(SELECT string_agg('w' || i * {seed}, ' ') FROM generate_series(1, 500) i)::tsvector, "
    "('x' || s || s)::varbit, (SELECT range_agg(int4range(i * 10, i * 10 + {seed})) FROM generate_series(1, 900) i), "
    "{numbers}::numeric[], ARRAY(SELECT md5(i::text)::bytea FROM generate_series({seed}, 200) i) "
    "FROM large({seed}) s"
)


def row(key: int, seed: int) -> str:
    return ROW.format(key=key, seed=seed, numbers=NUMBERS.format(seed=seed))


@pytest.fixture(scope="module")
def torn(lake: RunningLake) -> Iterator[RunningLake]:
    """The tables, each with rows that the snapshot reads; every large column is kept out of line as it is."""
    with psycopg.connect(lake.home.dsn(), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(NAME)))
    lake.execute(NAME, SCHEMA)
    lake.execute(NAME, *external(lake), row(1, 1), row(2, 2))
    lake.execute(
        NAME,
        "INSERT INTO placed SELECT i, 'p' || i % 3, 0, large(i) FROM generate_series(1, 30) i",
        "INSERT INTO pair SELECT 'a', i, 0, large(i) FROM generate_series(1, 30) i",
        "INSERT INTO many SELECT i, 0, large(i), large(-i)::bytea FROM generate_series(1, 1000) i",
        "INSERT INTO sited SELECT i, 'p' || i % 7, 0, large(i) FROM generate_series(1, 1000) i",
    )
    lake.define(NAME, {f"public.{name}": settings for name, settings in TABLES.items()})
    lake.apply()
    lake.drain(NAME)
    yield lake
    lake.forget(NAME)


def external(lake: RunningLake) -> list[str]:
    query = (
        "SELECT format('ALTER TABLE %s ALTER %I SET STORAGE EXTERNAL', attrelid::regclass, attname) FROM pg_attribute "
        "WHERE attrelid = ANY ('{doc,placed,pair,many,sited}'::regclass[]) AND attnum > 0 AND attstorage <> 'p' "
        "AND attname NOT IN ('a', 'place') OR attrelid = 'doc'::regclass AND attname = 'a'"
    )
    return [str(statement) for (statement,) in readers.source_rows(lake.home, NAME, query)]


def unequal(lake: RunningLake, *tables: str) -> dict[str, Any]:
    """What `lake verify` finds, by table; {} when all is equal."""
    result = lake.json("verify", *(f"{NAME}.{table}" for table in tables))["tables"]
    return {name: one["differences"] or one["unsettled"] for name, one in result.items() if not one["equal"]}


def messages(lake: RunningLake, table: str) -> list[dict[str, Any]]:
    return readers.topic_records(lake.home, f"{NAME}.public.{table}")


def test_every_type_that_can_be_large(torn: RunningLake) -> None:
    columns = [column.split()[0] for column in LARGE.split(", ")]
    torn.execute(
        NAME,
        "UPDATE doc SET n = 1",
        row(3, 3),
        "UPDATE doc SET n = 2 WHERE id = 3",
        *[
            f"UPDATE doc SET {name} = (SELECT {name} FROM doc WHERE id = 2) || '' WHERE id = 1"
            for name in ("t", "v", "nn")
        ],
        "UPDATE doc SET n = 3, bb = convert_to('lake' || 'unavailable', 'UTF8') WHERE id = 2",
        f"UPDATE doc SET bb = '\\x{PLACEHOLDER.encode().hex()}' WHERE id = 3",  # a value like any other
        "UPDATE doc SET n = 4 WHERE id = 3",
        "UPDATE doc SET id = 4 WHERE id = 1",
    )
    torn.drain(NAME)
    assert unequal(torn, "doc") == {}
    sent = {name for record in messages(torn, "doc") for name in record["__unavailable"] or ()}
    assert sent == {*columns, "*"}  # none of them came by itself


def test_places_and_keys_that_change(torn: RunningLake) -> None:
    torn.execute(
        NAME,
        "UPDATE placed SET place = 'q' || id % 2 WHERE id < 20",
        "UPDATE placed SET n = 1",
        "UPDATE placed SET id = id + 100 WHERE id BETWEEN 5 AND 15",
        "UPDATE placed SET id = id + 1000, place = 'z' WHERE id > 105",
        "DELETE FROM placed WHERE id IN (1, 2)",
        "INSERT INTO placed VALUES (1, 'back', 0, large(77))",
        "UPDATE placed SET n = 2 WHERE id = 1",
        "BEGIN; UPDATE pair SET b = -1 WHERE b = 1; UPDATE pair SET b = 1 WHERE b = 2; "
        "UPDATE pair SET b = 2 WHERE b = -1; UPDATE pair SET a = 'é,\"', n = 3 WHERE b = 3; COMMIT",
    )
    torn.drain(NAME)
    torn.execute(NAME, "UPDATE placed SET n = n + 1", "UPDATE pair SET n = n + 1")
    torn.drain(NAME)
    assert unequal(torn, "placed", "pair") == {}


# --- The same topics again, in batches of any size, into tables of their own.


def batches(lake: RunningLake, table: str, chance: random.Random) -> Iterator[tuple[int, int]]:
    """First and next offset of batches over the whole topic, some of them twice or after a later one."""
    end = readers.end_of(lake.home, f"{NAME}.public.{table}")
    cuts = sorted({0, end, *(chance.randrange(end) for _ in range(4))})
    spans = list(pairwise(cuts))
    for number, span in enumerate(spans):
        yield span
        if chance.random() < 0.4:
            yield chance.choice(spans[: number + 1])


def contents(spark: SparkSession, path: str) -> set[tuple[Any, ...]]:
    rows = spark.read.format("hudi").load(path)
    kept = [name for name in sorted(rows.columns) if not name.startswith("_hoodie") or name.endswith("_path")]
    return {tuple(map(str, found)) for found in rows.select(*kept).collect()}


@pytest.mark.parametrize(("table", "kind"), [("doc", "cow"), ("placed", "mor"), ("pair", "mor")])
def test_batches_cut_anywhere_and_again(
    torn: RunningLake, spark: SparkSession, tmp_path: Path, table: str, kind: str
) -> None:
    written = contents(spark, f"{torn.home.bucket_uri}/silver/{NAME}/{table}_{kind}")
    silver = own_table.writer(spark, torn.home, f"{NAME}.{table}", kind, (tmp_path / "again").as_uri())
    for first, end in batches(torn, table, random.Random(f"{table} {kind}")):
        silver.write(own_table.messages(spark, torn.home, silver.source.topic, first, end))
    assert contents(spark, silver.path) == written


def test_without_the_fill_the_values_are_gone(
    torn: RunningLake, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toast, "left_out", lambda summary: [])
    silver = own_table.writer(spark, torn.home, f"{NAME}.placed", "mor", (tmp_path / "torn").as_uri())
    end = readers.end_of(torn.home, silver.source.topic)
    silver.write(own_table.messages(spark, torn.home, silver.source.topic, 0, end))
    lost = spark.read.format("hudi").load(silver.path).where("__deleted = 'false' AND t IS NULL").count()
    assert lost == 29


# --- Many.

STEP = """
CREATE PROCEDURE shake(count int, seed float8) LANGUAGE plpgsql AS $$
DECLARE
    kind float8;
    k int;
    other int;
    source text;
BEGIN
    PERFORM setseed(seed);
    FOR step IN 1..count LOOP
        source := CASE WHEN random() < 0.5 THEN 'many' ELSE 'sited' END;
        kind := random();
        k := 1 + floor(1000 * random() ^ 2);
        other := 1 + floor(1000 * random());
        IF kind < 0.7 THEN
            EXECUTE format('UPDATE %I SET n = $1 WHERE id = $2', source) USING step, k;
        ELSIF kind < 0.85 THEN
            EXECUTE format('UPDATE %I SET n = $1, t = large($1) WHERE id = $2', source) USING step, k;
        ELSIF kind < 0.9 THEN
            UPDATE many SET b = large(-step)::bytea WHERE id = k;
            UPDATE sited SET place = 'p' || step % 7 WHERE id = k;
        ELSIF kind < 0.92 THEN
            EXECUTE format('UPDATE %I SET id = $1 WHERE id = $2 AND NOT EXISTS (SELECT FROM %I WHERE id = $1)',
                source, source) USING other, k;
        ELSIF kind < 0.93 THEN
            EXECUTE format('DELETE FROM %I WHERE id = $1', source) USING k;
        ELSE
            INSERT INTO many VALUES (k, step, large(step), large(-step)::bytea) ON CONFLICT DO NOTHING;
            INSERT INTO sited VALUES (k, 'p' || step % 7, step, large(step)) ON CONFLICT DO NOTHING;
        END IF;
        IF step % 20 = 0 THEN
            COMMIT;
        END IF;
    END LOOP;
END $$
"""
STEPS = 140_000  # some of them delete, insert, or find no row
DONE_WITHIN_S = 1200.0


@pytest.mark.slow
def test_a_hundred_thousand_random_updates(torn: RunningLake) -> None:
    """Connect and the streaming job are restarted meanwhile: what Debezium sends again is among the messages."""
    torn.execute(NAME, STEP)
    stack = Stack(torn.home)
    with ThreadPoolExecutor(1) as pool:
        shaken = pool.submit(torn.execute, NAME, f"CALL shake({STEPS}, 0.5)")
        for service in ("connect", "stream", "connect"):
            further = readers.end_of(torn.home, f"{NAME}.public.many") + 5000
            readers.wait_for_end(torn.home, f"{NAME}.public.many", further)
            stack.supervisors[service].stop()
            stack.start(service)
        shaken.result(DONE_WITHIN_S)
    databases = [one for one in torn.definitions() if one.database == NAME]
    stream_status.wait_for_lake(torn.home, databases, lambda line: None, DONE_WITHIN_S)
    counted = "SELECT sum(n_tup_upd) FROM pg_stat_user_tables WHERE relname IN ('many', 'sited')"
    ((updates,),) = readers.source_rows(torn.home, NAME, counted)
    assert updates >= 100_000 and unequal(torn, "many", "sited") == {}
