"""The proof is able to fail: a lake or an archive that was tampered with is found out, and the key is named."""

import contextlib
import itertools
import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from spark_jobs.pipeline import Target, read_pipeline
from tests.running_lake import RunningLake

pytestmark = pytest.mark.integration
NAME = "proof"
ROWS = {"honest": 20, "forged": 20, "silent": 0, "busy": 2000}
STILL = ("honest", "forged", "silent")


@pytest.fixture(scope="module")
def proof(lake: RunningLake) -> Iterator[RunningLake]:
    with psycopg.connect(lake.home.dsn(), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(NAME)))
    for table, rows in ROWS.items():
        lake.execute(
            NAME,
            f"CREATE TABLE {table} (id int PRIMARY KEY, kind text, amount numeric(10, 2), note text)",
            f"INSERT INTO {table} SELECT i, 'k' || i % 3, i * 1.5, NULL FROM generate_series(1, {rows}) i",
        )
    partitioned = {"forged": {"partition": "kind"}}
    lake.define(NAME, {f"public.{table}": {"key": ["id"], **partitioned.get(table, {})} for table in ROWS})
    lake.apply()
    lake.drain(NAME)
    yield lake
    lake.forget(NAME)


def verified(lake: RunningLake, *tables: str) -> tuple[int, dict[str, Any]]:
    """The exit code, and the result of each table by its name."""
    done = lake.run("verify", "--json", *(f"{NAME}.{table}" for table in tables), check=False)
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
        """Each key rests for a minute or more before its turn comes again; with each turn the table grows."""
        keys = itertools.cycle(range(2, ROWS["busy"], 2))
        new = itertools.count(ROWS["busy"] + 1)
        with psycopg.connect(proof.home.dsn(NAME), autocommit=True) as connection:
            while not stopping.wait(0.05):
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
def forged(proof: RunningLake, untouched: dict[str, Any], spark: SparkSession) -> dict[str, Any]:
    """What a proof says of the one table to which every fault was done, each to a row of its own."""
    cow, mor = (target(proof, spark, "forged", kind) for kind in ("cow", "mor"))
    write(spark, cow, stored(spark, cow, 7).withColumn("note", F.lit("forged")), "upsert")
    write(spark, mor, stored(spark, mor, 8), "delete")
    write(spark, cow, stored(spark, cow, 9).withColumn("kind", F.lit("elsewhere")), "insert")  # asks no index
    folder = proof.home.data / "s3" / "lake" / "bronze" / "topics" / f"{NAME}.public.forged"
    without_offset(spark, next(folder.rglob("*.avro")), 5)
    code, results = verified(proof, "forged")
    assert code == 1
    return results["forged"]


def target(lake: RunningLake, spark: SparkSession, table: str, kind: str) -> Target:
    pipeline = read_pipeline(spark, (lake.home.rendered / "pipeline.json").as_uri())
    found = next(one for one in pipeline.tables if (one.database, one.table) == (NAME, table))
    return next(one for one in found.targets if one.type == kind)


def write(spark: SparkSession, goal: Target, rows: Any, operation: str) -> None:
    """A write that no source asked for."""
    own = {"hoodie.datasource.write.operation": operation, "hoodie.datasource.write.row.writer.enable": "false"}
    rows.write.format("hudi").options(**{**goal.options, **own}).mode("append").save(goal.path)


def stored(spark: SparkSession, goal: Target, key: int) -> Any:
    rows = spark.read.format("hudi").load(goal.path).where(F.col("id") == key)
    return rows.drop(*[name for name in rows.columns if name.startswith("_hoodie_")])


def named(result: dict[str, Any], key: int) -> list[dict[str, Any]]:
    return [one for one in result["differences"] if one.get("key") == {"id": str(key)}]


def test_untouched_tables_are_equal(untouched: dict[str, Any]) -> None:
    sides = ("source", "cow", "rt", "ro")
    assert {name: untouched[name]["rows"] for name in STILL} == {
        name: dict.fromkeys(sides, ROWS[name]) for name in STILL
    }


def test_it_settles_while_writes_go_on(untouched: dict[str, Any]) -> None:
    busy = untouched["busy"]
    assert (busy["differences"], busy["unsettled"]) == ([], []) and busy["rows"]["source"] >= ROWS["busy"] - 1


def test_a_changed_row_is_named_with_both_versions(forged: dict[str, Any]) -> None:
    found = next(one for one in named(forged, 7) if one["where"] == "source = cow")
    assert found["columns"] == {"note": {"source": None, "cow": "forged"}}


def test_a_dropped_row_is_named(forged: dict[str, Any]) -> None:
    found = next(one for one in named(forged, 8) if one["where"] == "source = rt")
    assert found["missing_in"] == "rt"


def test_a_doubled_row_is_named(forged: dict[str, Any]) -> None:
    assert any("2 rows have this key" in one.get("detail", "") for one in named(forged, 9))


def test_an_offset_that_the_archive_lacks_is_named(forged: dict[str, Any]) -> None:
    found = [one["detail"] for one in forged["differences"] if one["where"] == "bronze"]
    assert found == ["partition 0, file from 0: offset 5 is missing"]


def test_nothing_else_is_named(forged: dict[str, Any]) -> None:
    assert {one["key"]["id"] for one in forged["differences"] if "key" in one} == {"7", "8", "9"}


def without_offset(spark: SparkSession, path: Path, offset: int) -> None:
    """Writes the file again, less one of its records. No URI: Hadoop takes the percent signs of one for the name."""
    scratch = path.parent / "scratch"
    rows = spark.read.format("avro").load(f"file://{path}").where(F.col("__offset") != offset)
    rows.coalesce(1).write.format("avro").save(f"file://{scratch}")
    path.write_bytes(next(scratch.glob("*.avro")).read_bytes())  # in place: the server keeps the ETag at the file
    shutil.rmtree(scratch)


def test_an_unknown_table_is_bad_input(proof: RunningLake) -> None:
    done = proof.run("verify", "proof.nothing", check=False)
    assert done.returncode == 2 and "nothing" in done.stderr and "proof.busy" in done.stderr
