"""Several at one table: a second writer, a writer whose clock is behind, and readers of what the cleaner takes away."""

import re
import threading
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame

from spark_jobs import query
from spark_jobs.hudi import table_services, time_travel, timeline
from spark_jobs.hudi.timeline import ClockBehind
from spark_jobs.hudi.write_client import write_client
from spark_jobs.runtime import batch_job
from spark_jobs.runtime.batch_job import Refused
from spark_jobs.runtime.pipeline import read_pipeline
from tests.faults.rig import Rig
from tests.faults.rival_faults import Cleaner, SecondJob
from tests.faults.trial import Entry, under_load
from tests.integration import own_table, readers
from tests.integration.lab import in_background
from tests.integration.own_table import OwnTable

pytestmark = pytest.mark.faults
ROWS, ROUNDS = 100, 8
KEPT = {"hoodie.cleaner.commits.retained": "2", "hoodie.keep.min.commits": "4", "hoodie.keep.max.commits": "5"}


@pytest.mark.matrix("28", "the same job is started a second time")
def test_second_writer(rig: Rig, entry: Entry, shop: str) -> None:
    under_load(rig, entry, shop, SecondJob(), hold_s=0)


@pytest.mark.matrix("28", "a cleaner that is not the lake's own, three times")
def test_another_cleaner(rig: Rig, entry: Entry, shop: str) -> None:
    under_load(rig, entry, shop, *[Cleaner(shop)] * 3)


@pytest.mark.parametrize("kind", ["cow", "mor"])
@pytest.mark.matrix("27", "a job starts with a clock ten minutes behind:")
def test_clock_behind(
    rig: Rig, entry: Entry, small: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It must not write. Where it did, a copy-on-write table would keep the older rows."""
    path = tmp_path.as_uri()
    begins = rounds(rig, small, own_table.writer(rig.spark, rig.home, f"{small}.account", kind, path, KEPT))
    next(begins)
    put_forward(tmp_path, timedelta(minutes=10))
    with pytest.raises(ClockBehind, match="set the clock"):
        own_table.writer(rig.spark, rig.home, f"{small}.account", kind, path, KEPT)
    entry.injected.append("clock 10 min behind")
    monkeypatch.setattr(timeline, "refuse_clock", lambda spark, line, path: None)
    unprotected = own_table.writer(rig.spark, rig.home, f"{small}.account", kind, path, KEPT)
    end = readers.end_of(rig.home, unprotected.source.topic)
    unprotected.write(own_table.messages(rig.spark, rig.home, unprotected.source.topic, 0, end))
    assert versions(rig.spark.read.format("hudi").load(path)) == {0 if kind == "cow" else ROUNDS}


def put_forward(table: Path, by: timedelta) -> None:
    """Gives the only commit of a table a later instant, as a clock that is ahead would have."""
    (old,) = {path.name.split(".")[0] for path in (table / ".hoodie").iterdir() if re.match(r"\d{17}\.", path.name)}
    new = (datetime.strptime(old, "%Y%m%d%H%M%S%f") + by).strftime("%Y%m%d%H%M%S%f")[:17]
    for path in [path for path in table.rglob("*") if path.is_file()]:
        if path.suffix != ".parquet" and old.encode() in path.read_bytes():
            path.write_bytes(path.read_bytes().replace(old.encode(), new.encode()))
        if old in path.name:
            path.rename(path.with_name(path.name.replace(old, new)))
    for path in table.rglob(".*.crc"):
        path.unlink()


def beside(rig: Rig, database: str, kind: str, name: str) -> OwnTable:
    """Of a table in the object store: a folder shows a file, a cleaner's plan as well, before it is whole."""
    path = f"s3a://{rig.home.bucket}/beside/{database}/{name}_{kind}"
    return own_table.writer(rig.spark, rig.home, f"{database}.account", kind, path, KEPT)


def rounds(rig: Rig, database: str, silver: OwnTable, served: bool = True) -> Iterator[int]:
    """Writes a table whose rows all get a new version in each round; served: compacts and cleans it after each."""
    topic = silver.source.topic
    begin = readers.end_of(rig.home, topic)
    rig.execute(database, *["UPDATE account SET version = version + 1 WHERE id BETWEEN 1 AND 100"] * ROUNDS)
    rig.come_to_rest(database)
    ends = [begin + ROWS * number for number in range(ROUNDS + 1)]
    for number, (first, end) in enumerate(zip([0, *ends], ends, strict=False)):
        silver.write(own_table.messages(rig.spark, rig.home, topic, first, end))
        yield number
        if served:
            table_services.serve(silver)


class Reader:
    """Reads the table as it was after each round, over and over; each round gives all rows a version of its own."""

    def __init__(self, rig: Rig, silver: OwnTable, monkeypatch: pytest.MonkeyPatch) -> None:
        self._spark = rig.spark
        self._config = (rig.home.rendered / "pipeline.json").as_uri()
        pipeline = read_pipeline(rig.spark, self._config)
        own = replace(pipeline, tables=(replace(silver.source, targets=(silver.target,)),))
        monkeypatch.setattr(query, "read_pipeline", lambda spark, config: own)
        self._view = silver.target.hive[0]
        self.instants: list[str] = []
        self.answered: list[tuple[int, set[int], int]] = []  # round, versions seen, rows
        self.refused: list[int] = []

    def read(self, number: int) -> None:
        """`lake sql --as-of`, as it runs."""
        sql = f"SELECT id, version - id AS version FROM {self._view} WHERE id BETWEEN 1 AND {ROWS}"
        asked = Namespace(sql=sql, as_of=self.instants[number], since=None, until=None, config=self._config, limit=1000)
        try:
            rows = query.answer(self._spark, asked)["rows"]
            self.answered.append((number, {version for _, version in rows}, len(rows)))
        except Refused:
            self.refused.append(number)
        except Py4JJavaError as error:
            assert "FileNotFound" in str(error)
            self.refused.append(number)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        ended = threading.Event()

        def go_on() -> None:
            while not ended.is_set():
                for number in range(len(self.instants)):
                    self.read(number)

        reading = in_background(go_on)
        try:
            yield
        finally:
            ended.set()
            reading()


@pytest.mark.parametrize("kind", ["cow", "mor"])
@pytest.mark.matrix("30", "time travel while compaction and cleaner remove its files:")
def test_past_beside_the_cleaner(
    rig: Rig, entry: Entry, small: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All rows of one version, or an error: never a part of them."""
    silver = beside(rig, small, kind, "past")
    reader = Reader(rig, silver, monkeypatch)
    with reader.at_work():
        for _ in rounds(rig, small, silver):
            reader.instants.append(time_travel.completed(rig.spark, silver.path)[-1].instant)
    assert reader.answered and reader.refused, "nothing was read beside the cleaner"
    for number in range(ROUNDS + 1):
        reader.read(number)
    entry.injected.append(f"{ROUNDS + 1} commits and cleanings")
    entry.checked += sum(rows for _, _, rows in reader.answered)
    assert [one for one in reader.answered if one[1:] != ({one[0]}, ROWS)] == []
    assert 0 in reader.refused and ROUNDS in {number for number, _, _ in reader.answered}


@pytest.mark.matrix("30", "a cleaning that a crash left half done")
def test_past_behind_half_a_cleaning(rig: Rig, entry: Entry, small: str) -> None:
    """Some files are gone already: nobody knows which."""
    silver = beside(rig, small, "cow", "half")
    path = silver.path
    instants = [time_travel.completed(rig.spark, path)[-1].instant for _ in rounds(rig, small, silver, served=False)]
    assert time_travel.instant_of(rig.spark, path, instants[0]) == instants[0]
    jvm = rig.spark._jvm
    client = write_client(rig.spark, silver.target)
    client.scheduleTableService(
        jvm.org.apache.hudi.common.util.Option.empty(), jvm.org.apache.hudi.common.model.TableServiceType.CLEAN
    )
    client.close()
    entry.injected.append("cleaning planned, not done")
    with pytest.raises(time_travel.NoSuchMoment, match="the oldest moment that is kept completely"):
        time_travel.instant_of(rig.spark, path, instants[0])
    assert time_travel.instant_of(rig.spark, path, instants[-1]) == instants[-1]


@pytest.mark.parametrize("kind", ["cow", "mor"])
@pytest.mark.matrix("30", "a query that lasts longer than its first files:")
def test_long_reader(rig: Rig, entry: Entry, small: str, kind: str, as_jobs_do: None) -> None:
    silver = beside(rig, small, kind, "long")
    planned = []
    for _ in rounds(rig, small, silver):
        planned.append(rig.spark.read.format("hudi").load(silver.path))
    entry.injected.append(f"{ROUNDS + 1} commits and cleanings")
    seen = [versions(rows) for rows in planned]
    assert seen[-1] == {ROUNDS}
    assert kind == "mor" or seen[0] is None  # merge-on-read is listed, and read, as it is by then
    assert [one for one in seen if one is not None and len(one) != 1] == []


@pytest.fixture
def as_jobs_do(rig: Rig) -> Iterator[None]:
    """The setting that once.run() makes."""
    rig.spark.conf.set(batch_job.LISTING, batch_job.AT_THE_PLAN)
    yield
    rig.spark.conf.unset(batch_job.LISTING)


def versions(rows: DataFrame) -> set[int] | None:
    """The versions that all rows have; None when a file that was planned to be read is gone."""
    try:
        found = rows.where(f"id BETWEEN 1 AND {ROWS}").collect()
    except Py4JJavaError as error:
        assert "FileNotFound" in str(error)
        return None
    assert len(found) == ROWS
    return {row["version"] - row["id"] for row in found}
