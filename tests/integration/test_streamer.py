"""HoodieStreamer and silver make the same tables of the same changes, whatever the archive goes through."""

import json
import os
import random
import subprocess
import time
from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lake.local.spark_submit import spark_conf, spark_environment, spark_home
from lake.local.streamer import class_path
from lake.rendering.streamer import streamer_path
from spark_jobs.archive import files as archive
from spark_jobs.hudi.lease import Leases
from spark_jobs.hudi.table import META_COLUMNS
from spark_jobs.kafka import admin
from spark_jobs.kafka.lag import missing_offsets
from spark_jobs.parity import compare, lake_rows
from spark_jobs.runtime.pipeline import Pipeline, Table, read_pipeline
from spark_jobs.runtime.waiting import Deadline, wait_until
from spark_jobs.sources.postgres.reader import Snapshot, Source
from spark_jobs.sources.postgres.types import pg_type
from spark_jobs.streamer import Job
from tests.clocks import HANG_S
from tests.integration import readers
from tests.integration.conftest import RunningLake

pytestmark = pytest.mark.integration
NAME = "shop"
CLASS = "org.apache.hudi.utilities.streamer.HoodieStreamer"
TABLES = {
    "public.sale": {"key": ["id"], "partition": "status"},
    "public.pair": {"key": ["a", "b"], "types": ["mor"], "delete": "hard"},
}
SCHEMA = """
CREATE TABLE sale (id int PRIMARY KEY, status text, price numeric(12, 2), any_price numeric, sold date,
    at timestamptz DEFAULT now(), tags text[], picture bytea);
CREATE TABLE pair (a text, b int, note text, PRIMARY KEY (a, b));
INSERT INTO sale SELECT i, 's/' || i % 3, i * 1.25, i * 1.5, date '2024-02-27' + i, '2024-02-29 12:00:00.123456+01',
    ARRAY['a' || i, NULL], '\\x00ff' FROM generate_series(1, 300) i;
INSERT INTO sale VALUES (301, NULL, NULL, 'NaN', NULL, 'infinity', NULL, NULL);
INSERT INTO pair SELECT 'p,' || i % 7, i, 'note ' || i FROM generate_series(1, 40) i;
"""
CHANGES = (
    "UPDATE sale SET status = 'moved', price = price + 1 WHERE id <= 20",
    "DELETE FROM sale WHERE id IN (21, 22)",
    "DELETE FROM pair WHERE b <= 3",
    "INSERT INTO pair VALUES ('p,1', 1, 'again')",
    "ALTER TABLE sale ADD COLUMN extra int",
    "INSERT INTO sale (id, status, extra) VALUES (400, 'new', 7)",
    "UPDATE sale SET extra = 1 WHERE id = 23",
)
RESULT = dict[str, dict[str, Any]]


class Shop:
    """The database shop, its archive, and both sets of tables made of it."""

    def __init__(self, lake: RunningLake, spark: SparkSession) -> None:
        self.lake = lake
        self.spark = spark
        self.home = lake.home

    @property
    def pipeline(self) -> Pipeline:
        return read_pipeline(self.spark, (self.home.rendered / "pipeline.json").as_uri())

    @property
    def tables(self) -> list[Table]:
        return [table for table in self.pipeline.tables if table.database == NAME]

    def drain(self) -> None:
        """Both silver and the archive hold all that is committed."""
        self.lake.drain(NAME)
        deadline = Deadline(time.monotonic() + HANG_S)
        for table in self.tables:
            wait_until(partial(self._unarchived, table), deadline)

    def _unarchived(self, table: Table) -> str:
        bronze = f"{self.home.bucket_uri}/bronze"
        end = admin.topic_offsets(self.spark, self.pipeline, table.topic).end
        return missing_offsets("bronze", archive.reached(self.spark, bronze, table.topic), end)

    def files(self) -> list[Path]:
        """The archive's files as the S3 server keeps them."""
        root = readers.bucket_folder(self.home) / "bronze" / "topics"
        return sorted(path for table in self.tables for path in (root / table.topic).rglob("*.avro"))

    def read(self, *, replay: bool = False, schemas: str = "file") -> RESULT:
        """One more round of the job, in this process; the files are those that the command line rendered."""
        folder = streamer_path(self.home)
        targets = json.loads((folder / "streamer.json").read_text())["targets"]
        status = (folder / "status.json").as_uri()
        args = Namespace(
            table=[NAME],
            tables="",
            types="cow,mor",
            schemas=schemas,
            once=True,
            continuous=False,
            replay=replay,
            interval_s=0,
            status=status,
        )
        tables = dict(Job(self.spark, self.pipeline, targets, args).run()["tables"])
        assert {table["state"] for table in tables.values()} == {"read"}, tables
        return tables

    def differences(self) -> dict[str, list[str]]:
        """The keys that differ between silver and HoodieStreamer, and between the source and HoodieStreamer."""
        password = self.home.secrets.lake_verify
        url = f"jdbc:postgresql://127.0.0.1:{self.home.ports.postgres}/{NAME}"
        moment = Source(self.spark, url, "lake_verify", password).snapshot()
        try:
            found = [self._compared(moment, table) for table in self.tables]
            return {name: keys for one in found for name, keys in one.items()}
        finally:
            moment.close()

    def _compared(self, snapshot: Snapshot, table: Table) -> dict[str, list[str]]:
        columns = {column.name: pg_type(column) for column in snapshot.columns(table.source_name)}
        texts = snapshot.rows(self.spark, table.source_name, columns)
        source = lake_rows.of_source(texts, table, columns).live()
        found = {}
        for target in table.targets:
            kind = "cow" if target.type == "cow" else "rt"
            silver = lake_rows.of_target(self.spark, target.path, kind, table, columns)
            path = self.streamed(target.path)
            ours = lake_rows.of_target(self.spark, path, kind, table, columns)
            assert set(self.stored(path).columns) == set(self.stored(target.path).columns)
            pairs = {"silver": (silver.rows, ours.rows), "source": (source, ours.live())}
            for name, pair in pairs.items():
                found[f"{name} {table.table}_{target.type}"] = [
                    row.key for row in compare.differing(name, *pair).take(20)
                ]
        return found

    def streamed(self, path: str) -> str:
        return path.replace("/silver/", "/streamer/")

    def stored(self, path: str) -> DataFrame:
        return self.spark.read.format("hudi").load(path)

    def contents(self) -> dict[str, list[int]]:
        """A hash of all columns but Hudi's own, of each row."""
        paths = [self.streamed(target.path) for table in self.tables for target in table.targets]
        return {path: self._hashes(path) for path in paths}

    def _hashes(self, path: str) -> list[int]:
        stored = self.stored(path)
        # Not the rows themselves: Python has no date for an infinite timestamp.
        return sorted(row[0] for row in stored.select(F.xxhash64(*stored.columns[META_COLUMNS:])).collect())


SAME: dict[str, list[str]] = {
    f"{side} {table}": [] for side in ("silver", "source") for table in ("sale_cow", "sale_mor", "pair_mor")
}


@pytest.fixture(scope="module")
def shop(lake: RunningLake, spark: SparkSession) -> Iterator[Shop]:
    with psycopg.connect(lake.home.dsn(), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(NAME)))
    lake.execute(NAME, SCHEMA)
    lake.define(NAME, TABLES)
    lake.apply()
    shop = Shop(lake, spark)
    shop.drain()
    yield shop
    lake.forget(NAME)


@pytest.fixture(scope="module")
def loaded(shop: Shop) -> RESULT:
    """The first run, by the command line."""
    return dict(shop.lake.json("streamer", "run", NAME, "--once")["tables"])


def test_the_first_run_loads_in_bulk_and_equals_silver(shop: Shop, loaded: RESULT) -> None:
    assert {name: (one["operation"], one["rows"]) for name, one in loaded.items()} == {
        "shop_cow_streamer.sale": ("BULK_INSERT", 301),
        "shop_mor_streamer.sale": ("BULK_INSERT", 301),
        "shop_mor_streamer.pair": ("BULK_INSERT", 40),
    }
    assert shop.differences() == SAME


def test_tables_are_in_databases_of_their_own(shop: Shop, loaded: RESULT) -> None:
    shown = {
        name: {row["tableName"] for row in shop.spark.sql(f"SHOW TABLES IN {name}").collect()}
        for name in ("shop_cow_streamer", "shop_mor_streamer")
    }
    assert shown == {
        "shop_cow_streamer": {"sale"},
        "shop_mor_streamer": {"sale_ro", "sale_rt", "pair_ro", "pair_rt"},
    }
    assert shop.spark.table("shop_mor_streamer.sale_rt").where("status = 's/1'").count() == 100


def test_a_second_run_adds_nothing(shop: Shop, loaded: RESULT) -> None:
    assert {one["commits"] for one in shop.read().values()} == {0}


@pytest.mark.slow
def test_files_that_come_late_with_an_early_time_are_read(shop: Shop, loaded: RESULT) -> None:
    old = set(shop.files())
    shop.lake.execute(NAME, *CHANGES)
    shop.drain()
    new = set(shop.files()) - old
    assert new
    for path in new:
        os.utime(path, (1_000_000_000, 1_000_000_000))
    read = shop.read()
    assert {one["operation"] for one in read.values()} == {"UPSERT"}
    assert shop.differences() == SAME


@pytest.mark.slow
def test_the_archive_again_in_any_order_changes_nothing(shop: Shop, loaded: RESULT) -> None:
    """Twice: all files written anew in a random order, then the whole archive with its times turned around."""
    before = shop.contents()
    files = shop.files()
    random.Random(7).shuffle(files)
    for place, path in enumerate(files):
        os.utime(path, (2_000_000_000 + place, 2_000_000_000 + place))
    assert {one["operation"] for one in shop.read().values()} == {"UPSERT"}
    assert shop.contents() == before
    for place, path in enumerate(sorted(files, reverse=True)):
        os.utime(path, (1_000_000_000 + place, 1_000_000_000 + place))
    assert {one["commits"] for one in shop.read(replay=True, schemas="registry").values()} == {1}
    assert shop.contents() == before
    assert shop.differences() == SAME


@pytest.mark.slow
def test_spark_submit_runs_the_class_itself(shop: Shop, loaded: RESULT) -> None:
    """Without our job around it, as a step on EMR may; the schema and the SQL are those of the last round."""
    shop.lake.execute(NAME, "INSERT INTO pair VALUES ('submitted', 1, 'by the class')")
    shop.drain()
    home = shop.home
    targets = json.loads((streamer_path(home) / "streamer.json").read_text())["targets"]
    (pair,) = [target for target in targets if target["name"] == "shop_mor_streamer.pair"]
    words = [*pair["arguments"], *pair["schemas"]["file"], *pair["follow"]]
    settings = {**spark_conf(home), "spark.driver.extraClassPath": class_path(home)}
    flags = [flag for name, value in settings.items() for flag in ("--conf", f"{name}={value}")]
    jar = str(home.build / "streamer" / "hudi-utilities.jar")
    command = [
        str(spark_home(home) / "bin" / "spark-submit"),
        "--master",
        "local[2]",
        *flags,
        "--class",
        CLASS,
        jar,
        *words,
    ]
    environment = spark_environment(home, home.secrets.s3_keys)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=HANG_S)
    assert done.returncode == 0, done.stderr[-2000:]
    assert shop.spark.table("shop_mor_streamer.pair_rt").where("a = 'submitted'").count() == 1


@pytest.mark.slow
def test_a_second_writer_is_refused(shop: Shop, loaded: RESULT) -> None:
    """Whoever it is: the claim lies beside the table (row 28 of the fault matrix)."""
    (pair,) = [target.path for table in shop.tables for target in table.targets if table.table == "pair"]
    other = Leases(shop.spark, "somebody else", pytest.fail)
    other.take(shop.streamed(pair))
    refused = shop.lake.run("streamer", "run", f"{NAME}.pair", "--once", check=False)
    other.release_all()
    assert refused.returncode == 2
    assert "pair_mor is written by somebody else" in refused.stderr
    assert (
        shop.lake.json("streamer", "run", f"{NAME}.pair", "--once")["tables"]["shop_mor_streamer.pair"]["commits"] == 0
    )
