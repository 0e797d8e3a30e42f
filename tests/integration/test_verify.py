"""The proof is able to fail: a lake or an archive that was tampered with is found out, and the key is named."""

import contextlib
import itertools
import json
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from spark_jobs.hudi.record_keys import with_own_keys
from spark_jobs.runtime.pipeline import Target, read_pipeline
from tests.clocks import HANG_S
from tests.integration import readers
from tests.running_lake import RunningLake

pytestmark = pytest.mark.integration
NAME = "proof"
ROWS = {"honest": 20, "forged": 20, "silent": 0, "busy": 2000}
FORGED = {"cow": (0, 11, 9), "mor": (10, 8, 12)}  # the keys of the changed, the dropped and the doubled row
SIDES = [("cow", "cow"), ("mor", "rt")]
WAIT_S = str(HANG_S / 3)  # for the lake, for rows that are in motion, and for the archive
STILL = ("honest", "forged", "silent")
COLUMNS = "kind text, amount numeric(10, 2), note text"
KEYS = {"forged": "numeric(12, 8)"}  # Spark writes 0 of these as 0E-8


@pytest.fixture(scope="module")
def proof(lake: RunningLake) -> Iterator[RunningLake]:
    with psycopg.connect(lake.home.dsn(), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(NAME)))
    for table, rows in ROWS.items():
        lake.execute(
            NAME,
            f"CREATE TABLE {table} (id {KEYS.get(table, 'int')} PRIMARY KEY, {COLUMNS})",
            f"INSERT INTO {table} SELECT i, 'k' || i % 3, i * 1.5, NULL FROM generate_series(0, {rows - 1}) i",
        )
    # To write all files of a copy-on-write table anew at each commit would keep a core busy.
    settings: dict[str, dict[str, Any]] = {"forged": {"partition": "kind"}, "busy": {"types": ["mor"]}}
    lake.define(NAME, {f"public.{table}": {"key": ["id"], **settings.get(table, {})} for table in ROWS})
    lake.apply()
    lake.drain(NAME)
    yield lake
    lake.forget(NAME)


def verified(lake: RunningLake, *tables: str) -> tuple[int, dict[str, Any]]:
    """The exit code, and the result of each table by its name."""
    names = [f"{NAME}.{table}" for table in tables]
    done = lake.run("verify", "--json", "--timeout", WAIT_S, *names, check=False)
    assert done.stdout, done.stderr
    results = json.loads(done.stdout)["tables"]
    return done.returncode, {table: results[f"{NAME}.public.{table}"] for table in tables}


@pytest.fixture(scope="module")
def untouched(proof: RunningLake) -> dict[str, Any]:
    """What a proof says of the tables before anything is done to them; one of them is written meanwhile."""
    with written_meanwhile(proof) as writing:
        code, results = verified(proof, *ROWS)
        assert writing.is_alive()
    assert code == 0, results
    return results


@contextlib.contextmanager
def written_meanwhile(proof: RunningLake) -> Iterator[threading.Thread]:
    stopping = threading.Event()

    def keep_writing() -> None:
        """Each key rests for minutes before its turn comes again: on a busy machine a round takes one.

        With each turn the table grows.
        """
        keys = itertools.cycle(range(2, ROWS["busy"], 2))
        new = itertools.count(ROWS["busy"])
        with psycopg.connect(proof.home.dsn(NAME), autocommit=True) as connection:
            while not stopping.wait(0.25):
                connection.execute("UPDATE busy SET amount = amount + 1 WHERE id = 0")  # it never rests
                key = next(keys)
                connection.execute("UPDATE busy SET amount = amount + 1 WHERE id = %s", [key])
                connection.execute("DELETE FROM busy WHERE id = %s", [key - 1])
                connection.execute("INSERT INTO busy VALUES (%s, 'again', 0, 'é🎉')", [key - 1])
                connection.execute("INSERT INTO busy VALUES (%s, 'new', 0, NULL)", [next(new)])

    writing = threading.Thread(target=keep_writing)
    writing.start()
    try:
        yield writing
    finally:
        stopping.set()
        writing.join()


@pytest.fixture(scope="module")
def faulty(proof: RunningLake, untouched: dict[str, Any], spark: SparkSession) -> dict[str, Any]:
    """What a proof says when every fault was done to one table, each to a row of its own, and another one is gone."""
    with ThreadPoolExecutor() as pool:
        forging = [pool.submit(forge, spark, target(proof, spark, "forged", kind), FORGED[kind]) for kind in FORGED]
        for one in forging:
            one.result()
    folder = readers.bucket_folder(proof.home) / "bronze" / "topics" / f"{NAME}.public.forged"
    without_offset(spark, next(folder.rglob("*.avro")), 5)
    proof.execute(NAME, "DROP TABLE silent")
    code, results = verified(proof, "silent", "forged")
    assert code == 1
    return results


@pytest.fixture(scope="module")
def forged(faulty: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = faulty["forged"]
    return result


def forge(spark: SparkSession, goal: Target, keys: tuple[int, int, int]) -> None:
    changed, dropped, doubled = keys
    rows = stored(spark, goal).persist()
    write(goal, rows.where(F.col("id") == changed).withColumn("note", F.lit("forged")), "upsert")
    write(goal, rows.where(F.col("id") == dropped), "delete")
    write(goal, rows.where(F.col("id") == doubled).withColumn("kind", F.lit("elsewhere")), "insert")  # asks no index
    rows.unpersist()


def target(lake: RunningLake, spark: SparkSession, table: str, kind: str) -> Target:
    pipeline = read_pipeline(spark, (lake.home.rendered / "pipeline.json").as_uri())
    found = next(one for one in pipeline.tables if (one.database, one.table) == (NAME, table))
    return with_own_keys(spark, next(one for one in found.targets if one.type == kind))


def write(goal: Target, rows: Any, operation: str) -> None:
    """A write that no source asked for."""
    own = {"hoodie.datasource.write.operation": operation, "hoodie.datasource.write.row.writer.enable": "false"}
    rows.write.format("hudi").options(**{**goal.options, **own}).mode("append").save(goal.path)


def stored(spark: SparkSession, goal: Target) -> Any:
    rows = spark.read.format("hudi").load(goal.path)
    return rows.drop(*[name for name in rows.columns if name.startswith("_hoodie_")])


def named(result: dict[str, Any], key: int) -> list[dict[str, Any]]:
    return [one for one in result["differences"] if float(one.get("key", {"id": -1})["id"]) == key]


def test_untouched_tables_are_equal(untouched: dict[str, Any]) -> None:
    sides = ("source", "cow", "rt", "ro")
    assert {name: untouched[name]["rows"] for name in STILL} == {
        name: dict.fromkeys(sides, ROWS[name]) for name in STILL
    }


def test_it_settles_while_writes_go_on(untouched: dict[str, Any]) -> None:
    busy = untouched["busy"]
    assert (busy["differences"], busy["unsettled"]) == ([], []) and busy["rows"]["source"] >= ROWS["busy"] - 1


@pytest.mark.parametrize(("kind", "side"), SIDES)
def test_a_changed_row_is_named_with_both_versions(forged: dict[str, Any], kind: str, side: str) -> None:
    found = next(one for one in named(forged, FORGED[kind][0]) if one["where"] == f"source = {side}")
    assert found["columns"] == {"note": {"source": None, side: "forged"}}


@pytest.mark.parametrize(("kind", "side"), SIDES)
def test_a_dropped_row_is_named(forged: dict[str, Any], kind: str, side: str) -> None:
    found = next(one for one in named(forged, FORGED[kind][1]) if one["where"] == f"source = {side}")
    assert found["missing_in"] == side


@pytest.mark.parametrize(("kind", "side"), SIDES)
def test_a_doubled_row_is_named(forged: dict[str, Any], kind: str, side: str) -> None:
    found = [one.get("detail", "") for one in named(forged, FORGED[kind][2]) if one["where"] == side]
    assert found == ["2 rows have this key"]


def test_an_offset_that_the_archive_lacks_is_named(forged: dict[str, Any]) -> None:
    found = [one["detail"] for one in forged["differences"] if one["where"] == "bronze"]
    assert found == ["partition 0, file from 0: offset 5 is missing"]


def test_nothing_else_is_named(forged: dict[str, Any]) -> None:
    found = {float(one["key"]["id"]) for one in forged["differences"] if "key" in one}
    assert found == {float(key) for keys in FORGED.values() for key in keys}


def test_a_table_that_is_gone_does_not_end_the_proof_of_the_next(faulty: dict[str, Any]) -> None:
    assert faulty["forged"]["rows"]["source"] == ROWS["forged"]
    told = [one["detail"] for one in faulty["silent"]["differences"] if one["where"] == "source"]
    assert told == ["PostgreSQL has no table public.silent, or it has no columns"]


def without_offset(spark: SparkSession, path: Path, offset: int) -> None:
    """Writes the file again, less one of its records. No URI: Hadoop takes the percent signs of one for the name."""
    scratch = path.parent / "scratch"
    rows = spark.read.format("avro").load(f"file://{path}").where(F.col("__offset") != offset)
    rows.coalesce(1).write.format("avro").save(f"file://{scratch}")
    path.write_bytes(next(scratch.glob("*.avro")).read_bytes())  # in place: the server keeps the ETag at the file
    shutil.rmtree(scratch)


def test_an_unknown_table_is_bad_input(proof: RunningLake) -> None:
    done = proof.cold.run("verify", "proof.nothing", check=False)
    assert done.returncode == 2 and "nothing" in done.stderr and "proof.busy" in done.stderr
