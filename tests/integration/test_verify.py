"""The proof is able to fail: a lake or an archive that was tampered with is found out, and the key is named."""

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
from tests.integration.conftest import RunningLake

pytestmark = pytest.mark.integration
NAME = "proof"
TABLES = ("honest", "changed", "dropped", "doubled", "archived", "busy")
ROWS = 20


@pytest.fixture(scope="module")
def proof(lake: RunningLake) -> Iterator[RunningLake]:
    with psycopg.connect(lake.home.dsn(), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(NAME)))
    for table in TABLES:
        lake.execute(
            NAME,
            f"CREATE TABLE {table} (id int PRIMARY KEY, kind text, amount numeric(10, 2), note text)",
            f"INSERT INTO {table} SELECT i, 'k' || i % 3, i * 1.5, NULL FROM generate_series(1, {ROWS}) i",
        )
    partitioned = {"doubled": {"partition": "kind"}}
    lake.define(NAME, {f"public.{table}": {"key": ["id"], **partitioned.get(table, {})} for table in TABLES})
    lake.apply()
    lake.drain(NAME)
    yield lake


def verified(lake: RunningLake, *tables: str) -> tuple[int, dict[str, Any]]:
    """The exit code, and the result of each table by its name."""
    done = lake.run("verify", "--json", *(f"{NAME}.{table}" for table in tables), check=False)
    assert done.stdout, done.stderr
    results = json.loads(done.stdout)["tables"]
    return done.returncode, {table: results[f"{NAME}.public.{table}"] for table in tables}


@pytest.fixture(scope="module")
def tampered(proof: RunningLake, spark: SparkSession) -> dict[str, Any]:
    """One fault in each table but one, and what a single proof says of them all."""
    code, honest = verified(proof, *TABLES[:-1])
    rows = dict.fromkeys(("source", "cow", "rt", "ro"), ROWS)
    assert (code, {name: (one["equal"], one["rows"]) for name, one in honest.items()}) == (
        0,
        dict.fromkeys(TABLES[:-1], (True, rows)),
    )
    changed, dropped, doubled = (
        target(proof, spark, *one) for one in (("changed", "cow"), ("dropped", "mor"), ("doubled", "cow"))
    )
    write(spark, changed, stored(spark, changed, 7).withColumn("note", F.lit("forged")), "upsert")
    write(spark, dropped, stored(spark, dropped, 8), "delete")
    write(spark, doubled, stored(spark, doubled, 9).withColumn("kind", F.lit("elsewhere")), "insert")  # asks no index
    folder = proof.home.data / "s3" / "lake" / "bronze" / "topics" / f"{NAME}.public.archived"
    without_offset(spark, next(folder.rglob("*.avro")), 5)
    code, results = verified(proof, *TABLES[:-1])
    assert code == 1
    return results


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


def test_an_untouched_table_stays_equal(tampered: dict[str, Any]) -> None:
    assert {name for name, one in tampered.items() if one["equal"]} == {"honest"}


def test_a_changed_row_is_named_with_both_versions(tampered: dict[str, Any]) -> None:
    found = next(one for one in named(tampered["changed"], 7) if one["where"] == "source = cow")
    assert found["columns"] == {"note": {"source": None, "cow": "forged"}}


def test_a_dropped_row_is_named(tampered: dict[str, Any]) -> None:
    found = next(one for one in named(tampered["dropped"], 8) if one["where"] == "source = rt")
    assert found["missing_in"] == "rt"


def test_a_doubled_row_is_named(tampered: dict[str, Any]) -> None:
    assert any("2 rows have this key" in one.get("detail", "") for one in named(tampered["doubled"], 9))


def test_an_offset_that_the_archive_lacks_is_named(tampered: dict[str, Any]) -> None:
    found = tampered["archived"]["differences"]
    assert [one["detail"] for one in found] == ["partition 0, file from 0: offset 5 is missing"]


def without_offset(spark: SparkSession, path: Path, offset: int) -> None:
    """Writes the file again, less one of its records. No URI: Hadoop takes the percent signs of one for the name."""
    scratch = path.parent / "scratch"
    rows = spark.read.format("avro").load(f"file://{path}").where(F.col("__offset") != offset)
    rows.coalesce(1).write.format("avro").save(f"file://{scratch}")
    path.write_bytes(next(scratch.glob("*.avro")).read_bytes())  # in place: the server keeps the ETag at the file
    shutil.rmtree(scratch)


def test_it_settles_while_writes_go_on(proof: RunningLake) -> None:
    stopping = threading.Event()

    def keep_writing() -> None:
        with psycopg.connect(proof.home.dsn(NAME), autocommit=True) as connection:
            while not stopping.wait(0.05):
                connection.execute("UPDATE busy SET amount = amount + 1 WHERE id % 4 = 0")
                connection.execute("DELETE FROM busy WHERE id = 3")
                connection.execute("INSERT INTO busy VALUES (3, 'again', 0, 'é🎉') ON CONFLICT DO NOTHING")

    writing = threading.Thread(target=keep_writing)
    writing.start()
    try:
        code, results = verified(proof, "busy")
    finally:
        stopping.set()
        writing.join()
    result = results["busy"]
    assert result["differences"] == []
    assert code in (0, 1) and (code == 0 or result["unsettled"])  # keys that never rest are not called equal


def test_an_unknown_table_is_bad_input(proof: RunningLake) -> None:
    done = proof.run("verify", "proof.nothing", check=False)
    assert done.returncode == 2 and "nothing" in done.stderr and "proof.busy" in done.stderr
