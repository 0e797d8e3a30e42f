"""The appender's tables are ordinary ones of Hudi: Spark SQL and other writers work before it and after it."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from lake.config import versions
from lake.local.spark_submit import spark_home
from lake.local.streamer import class_path
from spark_jobs.hudi.record_keys import with_own_keys
from tests.clocks import HANG_S
from tests.spark.appended import Turns
from tests.spark.conftest import HOME

STREAMER = "org.apache.hudi.utilities.streamer.HoodieStreamer"
COLUMNS = "id int, name string, __deleted string, _order bigint"
pytestmark = [
    pytest.mark.skipif(HOME.release != versions.EMR, reason="Hudi 0.15 has other classes (ADR 37)"),
    pytest.mark.usefixtures("no_metastore"),
]


def batch(order: int, ids: Any) -> list[tuple[Any, ...]]:
    return [(id, f"{id} at {order}", "false", order) for id in ids]


class Shown:
    """A table as Spark SQL knows it, and the newest order of each of its ids."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.turns = Turns(spark, folder, COLUMNS, buckets=2)
        self.turns.general(batch(1, range(10)))
        self.newest = dict.fromkeys(range(10), 1)
        spark.sql(f"CREATE TABLE ordinary USING hudi LOCATION '{self.turns.path}'")

    @property
    def options(self) -> dict[str, str]:
        """Those of the table, and the class of its keys, which its own properties name."""
        return with_own_keys(self.turns.spark, self.turns.target).options

    def call(self, procedure: str, **more: Any) -> list[Any]:
        arguments = ", ".join(f"{name} => {value!r}" for name, value in {"table": "ordinary", **more}.items())
        return self.turns.spark.sql(f"CALL {procedure}({arguments})").collect()

    def append(self, *ids: int) -> None:
        order = max(self.newest.values()) + 1
        self.turns.append(batch(order, ids))
        self.newest.update(dict.fromkeys(ids, order))

    def write(self, *ids: int) -> None:
        """By Spark's own writer, with the options of the table alone."""
        order = max(self.newest.values()) + 1
        frame = self.turns.frame(batch(order, ids))
        frame.write.format("hudi").options(**self.options).mode("append").save(self.turns.path)
        self.newest.update(dict.fromkeys(ids, order))

    def check(self) -> None:
        rows = sorted((row for id, order in self.newest.items() for row in batch(order, [id])), key=repr)
        assert self.turns.rows() == rows
        self.turns.spark.sql("REFRESH TABLE ordinary")
        shown = self.turns.spark.table("ordinary").select("id", "name", "__deleted", "_order").collect()
        assert sorted(map(tuple, shown), key=repr) == rows


@pytest.fixture
def shown(spark: SparkSession, tmp_path: Path) -> Iterator[Shown]:
    yield Shown(spark, tmp_path)
    spark.sql("DROP TABLE ordinary")


@pytest.fixture
def own_options(shown: Shown) -> Iterator[None]:
    """Procedures get the options of the table, as by SET."""
    settings, compact = shown.turns.spark.conf, {"hoodie.compact.inline.max.delta.commits": "1"}
    given = {**shown.options, **compact}
    for name, value in given.items():
        settings.set(name, value)
    yield
    for name in given:
        settings.unset(name)


@pytest.mark.usefixtures("own_options")
def test_procedures_and_other_writers_take_turns_with_the_appender(shown: Shown) -> None:
    shown.append(1, 2)
    shown.write(2, 3, 10)
    shown.append(3, 10)
    shown.check()
    (planned,) = shown.call("run_compaction", op="schedule")
    shown.append(4)
    assert [row["timestamp"] for row in shown.call("run_compaction", op="run")] == [planned["timestamp"]]
    shown.append(5)
    shown.check()
    shown.write(5, 6)
    shown.call("run_compaction", op="scheduleandexecute")
    assert shown.call("run_clean", retain_commits=1)
    shown.append(6, 10)
    shown.check()
    commits = shown.call("show_commits", limit=100)
    assert [row["total_errors"] for row in commits] == [0] * len(commits)
    assert commits[0]["commit_time"] == shown.turns.instants[-1]


def test_a_commit_of_the_appender_is_rolled_back_by_a_procedure(shown: Shown) -> None:
    """Without the table's options it makes a metadata table: then Hudi's own writer commits once, and removes it."""
    shown.append(1)
    shown.turns.append(batch(99, [1, 2]))
    shown.call("rollback_to_instant", instant_time=shown.turns.instants[-1])
    shown.check()
    with pytest.raises(Py4JJavaError, match="it has a metadata table"):
        shown.append(2)
    shown.write(2)
    shown.append(3)
    shown.check()


@pytest.mark.slow  # its Spark is a process of its own, whose JVM is cold
def test_hoodie_streamer_upserts_between_two_commits_of_the_appender(shown: Shown, tmp_path: Path) -> None:
    shown.append(1, 2)
    order, given = max(shown.newest.values()) + 1, tmp_path / "given"
    shown.turns.frame(batch(order, [2, 3, 11])).write.parquet(str(given))
    upsert(shown, given)
    shown.newest.update(dict.fromkeys([2, 3, 11], order))
    shown.check()
    shown.append(3, 11)
    shown.turns.compact()
    shown.append(4)
    shown.check()


def upsert(shown: Shown, files: Path) -> None:
    """By HoodieStreamer in a process of its own, with the options of the table alone."""
    options = {**shown.options, "hoodie.deltastreamer.source.dfs.root": files.as_uri()}
    options["hoodie.combine.before.insert"] = "false"  # it refuses anything else without --filter-dupes
    settings = {"spark.driver.extraClassPath": class_path(HOME), "spark.ui.enabled": "false"}
    settings["spark.serializer"] = "org.apache.spark.serializer.KryoSerializer"
    command = [
        *(str(spark_home(HOME) / "bin/spark-submit"), "--master", "local[1]"),
        *(word for one in settings.items() for word in ("--conf", "=".join(one))),
        *("--class", STREAMER, str(HOME.build / "streamer/hudi-utilities.jar")),
        *("--target-base-path", shown.turns.path, "--target-table", shown.turns.table.name.split(".")[-1]),
        *("--table-type", "MERGE_ON_READ", "--op", "UPSERT", "--source-ordering-field", "_order"),
        *("--source-class", "org.apache.hudi.utilities.sources.ParquetDFSSource", "--disable-compaction"),
        *(word for one in options.items() for word in ("--hoodie-conf", "=".join(one))),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_S, check=False)
    assert done.returncode == 0, [line for line in done.stderr.splitlines() if "Exception" in line]
