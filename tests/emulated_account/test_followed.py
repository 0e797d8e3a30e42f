"""HoodieStreamer's jobs of a deployment: BULK_INSERT once, then UPSERT --continuous, each on one table."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lake.rendering.spark import SESSION
from tests.emulated_account.account import Account
from tests.emulated_account.followed import KIND, Followed, follow

pytestmark = [pytest.mark.account, pytest.mark.operations, pytest.mark.slow]


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    settings = {
        **SESSION,
        "spark.driver.extraClassPath": "build/spark/*",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module", params=["archive", "s3_sink"])
def followed(
    request: pytest.FixtureRequest, account: Account, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Followed]:
    def read(table: Path) -> list[tuple[Any, ...]]:
        columns = ["artist_id", "name", "nationality", "born", "__deleted", "_order"]
        rows = spark.read.format("hudi").load(table.as_uri()).select(*columns).orderBy("artist_id").collect()
        return [tuple(row) for row in rows]

    layout = request.param
    return layout, follow(account, tmp_path_factory.mktemp(layout), layout, read)


def test_the_deployment_starts_a_job_per_table_and_type(followed: tuple[str, Followed]) -> None:
    layout, seen = followed
    assert [one.name for one in seen.deployed] == ["stream", f"streamer.moma.artists.{KIND[layout]}"]
    assert seen.deployed[1].state in ("starting", "running")


def test_the_first_commit_is_a_bulk_insert_to_its_end(followed: tuple[str, Followed]) -> None:
    _, seen = followed
    assert (seen.loaded["operation"], seen.loaded["commits"]) == ("BULK_INSERT", 1)


def test_later_files_are_upserted_while_it_runs(followed: tuple[str, Followed]) -> None:
    _, seen = followed
    assert (seen.changed["operation"], seen.changed["state"]) == ("UPSERT", "running")


def test_the_table_is_equal_to_the_archive_after_a_new_column_too(followed: tuple[str, Followed]) -> None:
    _, seen = followed
    assert seen.rows == [
        (1, "Ai Weiwei", "Chinese", None, "true", 5),
        (2, "Bo", "Danish", None, "false", 3),
        (3, "Cy", "French", None, "false", 4),
        (4, "Di", "Dutch", 1926, "false", 6),
    ]


def test_it_is_stopped_by_its_name(followed: tuple[str, Followed]) -> None:
    layout, seen = followed
    assert (seen.stopped.name, seen.stopped.state) == (f"streamer.moma.artists.{KIND[layout]}", "stopped")
    assert seen.left == []
