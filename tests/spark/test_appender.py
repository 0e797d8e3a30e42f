"""The appender: its commits are those of Hudi's DataFrame writer, for every reader and for every later writer."""

import json
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lake.config import versions
from spark_jobs.hudi import timeline
from tests.spark.appended import Turns
from tests.spark.conftest import HOME

COLUMNS = "id int, name string, __deleted string, _order bigint"
WAYS = ("general", "append", "stage")
pytestmark = pytest.mark.skipif(HOME.release != versions.EMR, reason="Hudi 0.15 has other classes (ADR 37)")


def batch(order: int, ids: Any) -> list[tuple[Any, ...]]:
    return [(id, f"{id} at {order}", "false", order) for id in ids]


@pytest.fixture
def made(spark: SparkSession, tmp_path: Path, no_metastore: None) -> Turns:
    """A table of two buckets, with rows in both."""
    turns = Turns(spark, tmp_path, COLUMNS, buckets=2)
    turns.general(batch(1, range(10)), offsets={"0": 10})
    return turns


def refused(turns: Turns, appender: Any, rows: list[tuple[Any, ...]]) -> str:
    """Why the rows are left to Hudi's own writer. Nothing was written."""
    before = sorted(turns.meta.rglob("*"))
    with pytest.raises(Py4JJavaError) as left:
        turns.commit(appender, rows)
    assert sorted(turns.meta.rglob("*")) == before
    problem = left.value.java_exception
    assert problem.getClass().getName() == "lake.NotPlain"
    return str(problem.getMessage())


def take(turns: Turns, step: str, place: int) -> None:
    if step in WAYS:
        getattr(turns, step)(batch(place + 1, range(place, place + 12)), offsets={"0": place})
    else:
        {"plan": turns.plan_compaction, "compact": turns.compact}[step]()


def test_all_reads_are_those_of_the_general_road(spark: SparkSession, tmp_path: Path, no_metastore: None) -> None:
    steps = ["general", "append", "append", "general", "plan", "append", "compact", "append", "general", "append"]
    mixed, plain = (Turns(spark, tmp_path / name, COLUMNS, buckets=2) for name in ("mixed", "plain"))
    for place, step in enumerate(steps):
        take(mixed, step, place)
        take(plain, "general" if step == "append" else step, place)
        assert mixed.rows() == plain.rows()
        assert mixed.optimised() == plain.optimised()
    assert len(mixed.instants) == len(plain.instants) == 8
    for ours, theirs in zip(mixed.instants, plain.instants, strict=True):
        assert mixed.at(ours) == plain.at(theirs)
        assert mixed.since(ours) == plain.since(theirs)


def test_the_position_is_in_the_commit(made: Turns) -> None:
    instant = made.append(batch(2, [1]), offsets={"0": 11}, lsn=7)
    assert timeline.last_instant(made.spark, made.path) == instant
    assert timeline.last_position(made.line) == {"offsets": {"0": 11}, "lsn": 7}
    assert timeline.rows_written(made.spark, made.path, instant) == 1
    made.spark.sql(f"CREATE TABLE appended USING hudi LOCATION '{made.path}'")
    shown = made.spark.sql("CALL show_commits(table => 'appended')").collect()
    made.spark.sql("DROP TABLE appended")
    assert shown[0]["commit_time"] == instant
    assert shown[0]["total_records_written"] == 1
    assert shown[0]["total_errors"] == 0


def test_the_metadata_are_those_of_the_general_road(made: Turns) -> None:
    metadata = []
    for way in WAYS:
        instant = getattr(made, way)(batch(2, range(10)), offsets={"0": 12})
        metadata.append(json.loads((made.meta / f"{instant}.deltacommit").read_text()))
    general, *appended = metadata
    general["extraMetadata"].pop("lake.bytes_since_service")  # HudiTable's own
    for one in appended:
        assert one["extraMetadata"] == general["extraMetadata"]
        assert one["operationType"] == general["operationType"] == "UPSERT"
        assert facts(one) == facts(general)
        for stat in one["partitionToWriteStats"][""]:
            size = (made.meta.parent / stat["path"]).stat().st_size
            assert size == stat["fileSizeInBytes"] == stat["totalWriteBytes"]


def facts(metadata: dict[str, Any]) -> list[list[Any]]:
    """What a commit says of each file that does not differ from commit to commit."""
    counts = ("numWrites", "numUpdateWrites", "numInserts", "numDeletes", "totalWriteErrors")
    names = (*counts, "prevCommit", "baseFile", "fileId", "partitionPath")
    return sorted([stat[name] for name in names] for stat in metadata["partitionToWriteStats"][""])


def test_checkpoints_of_hoodie_streamer_are_carried_forward(made: Turns) -> None:
    key = timeline.CHECKPOINT
    entries = made.spark._jvm.java.util.HashMap()
    entries.put(key, "42")
    first = made.appender().commit(made.internal(batch(2, [1])), entries)
    assert timeline.checkpoint(made.spark, made.path) == (first, "42")
    made.append(batch(3, [1]))
    second = made.append(batch(4, [1]))
    assert timeline.checkpoint(made.spark, made.path) == (second, "42")


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("int", [1, -5, 2**31 - 1]),
        ("bigint", [1, -5, 2**63 - 1]),
        ("string", ["a", "a,b:c", "id:x", ":", "ä😀", "a" * 300]),
        ("date", [date(2026, 11, 29), date(1, 1, 1), date(9999, 12, 31)]),
        ("timestamp", [datetime(2026, 11, 29, 1, 2, 3, 456789), datetime(1700, 1, 1)]),
        ("decimal(12,3)", [Decimal("1.500"), Decimal("-7.000"), Decimal("123456789.123")]),
    ],
)
def test_keys_of_each_type(
    spark: SparkSession, tmp_path: Path, no_metastore: None, kind: str, values: list[Any]
) -> None:
    turns = Turns(spark, tmp_path, f"id {kind}, name string, _order bigint", buckets=3)
    turns.general([(value, "old", 1) for value in values] + many(kind))
    turns.append([(value, "new", 2) for value in values])
    found = {row[0]: row[1] for row in turns.rows()}
    assert [found[value] for value in values] == ["new"] * len(values)
    assert len(turns.rows()) == len({*values, *(row[0] for row in many(kind))})


def many(kind: str) -> list[tuple[Any, ...]]:
    """Rows in all buckets."""
    makes: dict[str, Callable[[int], Any]] = {
        "int": int,
        "bigint": int,
        "string": str,
        "date": lambda n: date(2000, 1, 1 + n),
        "timestamp": lambda n: datetime(2000, 1, 1 + n),
        "decimal(12,3)": Decimal,
    }
    return [(makes[kind](n), "other", 1) for n in range(10, 30)]


def test_composite_keys(spark: SparkSession, tmp_path: Path, no_metastore: None) -> None:
    turns = Turns(spark, tmp_path, "a string, b int, _order bigint, _key string", key=("a", "b"), buckets=2)
    turns.general([(str(n), n, 1, f'["{n}",{n}]') for n in range(20)])
    turns.append([("1", 1, 2, '["1",1]'), ("x:y,z", 5, 2, '["x:y,z",5]')])
    turns.append([("x:y,z", 5, 3, '["x:y,z",5]')])
    assert [row for row in turns.rows() if row[2] > 1] == [("1", 1, 2, '["1",1]'), ("x:y,z", 5, 3, '["x:y,z",5]')]
    assert len(turns.rows()) == 21


def test_the_newer_row_stays(made: Turns) -> None:
    made.append(batch(5, [1]))
    made.append(batch(3, [1]))
    assert [row for row in made.rows() if row[0] == 1] == batch(5, [1])
    made.plan_compaction()
    made.compact()
    assert [row for row in made.optimised() if row[0] == 1] == batch(5, [1])


def test_old_days_are_not_shifted_in_a_thread_of_its_own(
    spark: SparkSession, tmp_path: Path, no_metastore: None
) -> None:
    turns = Turns(spark, tmp_path, "id int, day date, at timestamp, _order bigint", buckets=1)
    turns.general([(1, date(2000, 1, 1), datetime(2000, 1, 1), 1)])
    old = (2, date(1200, 2, 28), datetime(1200, 2, 28, 1), 2)
    java = spark._jvm.org.apache.spark.sql.SparkSession
    java.clearActiveSession()
    try:
        turns.append([old])
    finally:
        java.setActiveSession(spark._jsparkSession)
    assert old in turns.rows()


def test_a_large_batch_is_cut_into_blocks(spark: SparkSession, tmp_path: Path, no_metastore: None) -> None:
    turns = Turns(spark, tmp_path, COLUMNS, buckets=1)
    turns.general(batch(1, range(10)))
    block = 2 * 1024 * 1024
    appender = turns.appender(hoodie__logfile__data__block__max__size=str(block))
    turns.commit(appender, [(id, f"{id} " + "x" * 40, "false", 2) for id in range(100_000)])
    assert len(turns.rows()) == 100_000
    (file,) = turns.meta.parent.glob(".*.log.*0")
    sizes = [len(one) for one in file.read_bytes().split(b"#HUDI#")]
    assert len(sizes) > 3
    assert max(sizes) <= block


def test_rows_that_cannot_be_read_write_nothing(made: Turns) -> None:
    before = sorted(made.meta.rglob("*"))
    rows = made.spark._jvm.java.util.ArrayList()
    rows.add(None)
    with pytest.raises(Py4JJavaError):
        made.appender().commit(rows.iterator(), made.spark._jvm.java.util.HashMap())
    assert sorted(made.meta.rglob("*")) == before


def blocked_marker(turns: Turns) -> Any:
    """An appender that fails after it has begun its commit, before it writes a block."""
    (turns.meta / ".temp").rmdir()
    (turns.meta / ".temp").touch()
    return turns.appender()


def blocked_completion(turns: Turns) -> Any:
    """An appender that fails after it has written all blocks: another one holds the lock of the table."""
    lock = turns.meta.parents[1] / "lock"
    lock.mkdir()
    (lock / "lock").touch()
    return turns.appender(
        hoodie__write__lock__provider="org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider",
        hoodie__write__lock__filesystem__path=lock.as_uri(),
        hoodie__write__lock__client__num_retries="1",
        hoodie__write__lock__client__wait_time_ms_between_retry="1",
        hoodie__write__lock__wait_time_ms="10",
    )


def unblock(turns: Turns) -> None:
    if (turns.meta / ".temp").is_file():
        (turns.meta / ".temp").unlink()


@pytest.mark.parametrize("failing", [blocked_marker, blocked_completion])
def test_a_commit_that_fails_midway_stays_invisible(made: Turns, failing: Any) -> None:
    before = made.rows()
    with pytest.raises(Py4JJavaError):
        made.commit(failing(made), batch(9, range(10)))
    unblock(made)
    assert made.rows() == before
    assert "unfinished" in refused(made, made.appender(), batch(10, [1]))
    made.restart()
    made.general(batch(2, [0]))
    expected = [*batch(1, range(1, 10)), *batch(2, [0])]
    assert sorted(made.rows()) == sorted(expected)
    made.append(batch(3, [1]))
    made.plan_compaction()
    made.compact()
    assert sorted(made.optimised()) == sorted([*batch(1, range(2, 10)), *batch(2, [0]), *batch(3, [1])])
    assert made.optimised() == made.rows()


def test_what_attempts_of_lost_tasks_have_left_is_deleted(made: Turns) -> None:
    """Their blocks bear the instant of the commit, so a reader would take them."""
    made.append(batch(2, [1]))
    (log,) = (path for path in made.meta.parent.glob(".*.log.*") if path.suffix != ".crc")
    left = log.with_name(log.name.replace(".log.1_", ".log.7_"))

    @F.udf("string")
    def attempt(name: str) -> str:
        left.write_bytes(log.read_bytes())
        return name

    made.stage(made.frame(batch(3, [2])).withColumn("name", attempt("name")))
    assert log.exists() and not left.exists()
    assert made.rows() == sorted([*batch(1, [0, *range(3, 10)]), *batch(2, [1]), *batch(3, [2])], key=repr)


def test_a_writer_that_comes_between_is_noticed(made: Turns) -> None:
    made.append(batch(2, [1]))
    made.general(batch(3, [2]))
    made.append(batch(4, [3]))
    made.plan_compaction()
    made.append(batch(5, [4]))
    made.compact()
    made.append(batch(6, [5]))
    newest = {1: 2, 2: 3, 3: 4, 4: 5, 5: 6}
    assert made.rows() == sorted((row for id in range(10) for row in batch(newest.get(id, 1), [id])), key=repr)


def edit(turns: Turns, line: str) -> None:
    (turns.meta / ".hoodie.properties.crc").unlink()
    with (turns.meta / "hoodie.properties").open("a") as properties:
        properties.write(line + "\n")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"hoodie__cleaner__policy__failed__writes": "LAZY"}, "LAZY"),
        ({"hoodie__index__type": "BLOOM"}, "no bucket index"),
        ({"hoodie__metadata__enable": "true"}, "metadata table"),
        ({"hoodie__schema__on__read__enable": "true"}, "schema-on-read"),
        ({"columns": "id int, name string, _order bigint"}, "other columns"),
        ({"columns": "id bigint, name string, __deleted string, _order bigint"}, "its column id"),
        ({"columns": "name string, id int, __deleted string, _order bigint"}, "its column id"),
    ],
)
def test_a_writer_that_is_not_plain(made: Turns, options: dict[str, str], reason: str) -> None:
    assert reason in refused(made, made.appender(**options), batch(2, [1]))


def test_a_table_with_a_metadata_table_is_not_plain(made: Turns) -> None:
    edit(made, "hoodie.table.metadata.partitions=files")
    assert "metadata table" in refused(made, made.appender(), batch(2, [1]))


def test_a_table_with_schema_on_read_is_not_plain(made: Turns) -> None:
    entries = made.spark._jvm.java.util.HashMap()
    entries.put("latest_schema", "{}")
    made.appender().commit(made.internal(batch(2, [1])), entries)
    assert "schema-on-read" in refused(made, made.appender(), batch(2, [1]))


@pytest.mark.parametrize("state", ["deltacommit.requested", "deltacommit.inflight", "rollback.requested"])
def test_a_table_with_an_unfinished_instant_is_not_plain(made: Turns, state: str) -> None:
    made.append(batch(2, [1]))
    (made.meta / f"{int(made.instants[-1]) + 1}.{state}").touch()
    assert "unfinished" in refused(made, made.appender(), batch(2, [1]))


def test_a_clock_that_is_behind_is_not_plain(made: Turns) -> None:
    (made.meta / "29991231235959999.clean").touch()
    assert "clock" in refused(made, made.appender(), batch(2, [1]))


def test_a_bucket_without_a_file_is_not_plain(spark: SparkSession, tmp_path: Path, no_metastore: None) -> None:
    turns = Turns(spark, tmp_path, COLUMNS, buckets=8)
    turns.general(batch(1, [1]))
    turns.append(batch(2, [1]))
    assert "has no file yet" in refused(turns, turns.appender(), batch(3, range(20)))


@pytest.mark.parametrize(
    ("given", "reason"), [({"partition": "name"}, "bucket index"), ({"types": ["cow"]}, "not merge-on-read")]
)
def test_other_tables_are_not_plain(
    spark: SparkSession, tmp_path: Path, no_metastore: None, given: dict[str, Any], reason: str
) -> None:
    turns = Turns(spark, tmp_path, COLUMNS, **given)
    turns.general(batch(1, [1]))
    assert reason in refused(turns, turns.appender(), batch(2, [1]))


def test_a_column_by_which_hudi_deletes_is_not_plain(spark: SparkSession, tmp_path: Path, no_metastore: None) -> None:
    turns = Turns(spark, tmp_path, COLUMNS + ", _hoodie_is_deleted boolean", buckets=1)
    turns.general([(1, "name", "false", 1, False)])
    assert "mark of deletes" in refused(turns, turns.appender(), [(1, "name", "false", 2, True)])


def test_a_null_in_a_column_without_nulls_is_not_plain(spark: SparkSession, tmp_path: Path, no_metastore: None) -> None:
    turns = Turns(spark, tmp_path, COLUMNS, buckets=1)
    turns.schema["name"].nullable = False
    turns.general(batch(1, [1]))
    turns.schema["name"].nullable = True
    assert "no nulls" in refused(turns, turns.appender(), [(1, None, "false", 2)])
    turns.append(batch(2, [1]))
    assert turns.rows() == batch(2, [1])


def test_spent_markers_are_deleted(made: Turns) -> None:
    for order in range(2, 105):
        made.append(batch(order, [1]))
    assert 0 < len(list((made.meta / ".temp").iterdir())) <= 4
