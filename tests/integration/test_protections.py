"""What protects the rows is needed: with one protection switched off, the same messages make a wrong table (F1 to F9).

Each test writes a table of its own from a topic of the lab. F8 is in test_toast.py: without the fill, values are gone.
"""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from lake.clients.connect import Connect
from lake.clients.kafka import Broker
from lake.rendering.topics import Topic
from lake.sources.connector import source_connector
from spark_jobs.events import decode, fencing, flatten
from spark_jobs.hudi import timeline
from spark_jobs.runtime.sql_text import identifier
from tests.integration import own_table, readers
from tests.integration.lab import Lab, Rows
from tests.integration.own_table import OwnTable
from tests.remains import delete_topics, drop_slot

pytestmark = [pytest.mark.integration, pytest.mark.slow]
PREFIX = "initial"
PRUNING = "spark.sql.optimizer.nestedSchemaPruning.enabled"
OVERWRITE = "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload"  # what HoodieStreamer takes by default
JOINED_KEY = {
    "hoodie.datasource.write.recordkey.field": "a,b,n",
    "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.ComplexKeyGenerator",
}
BEGUN = 1600  # messages of the table hot: in the second of seven passes that one large transaction makes over its rows
ADDED = 20  # the keys that other tests add to the table moving begin here
RESTARTED = 2**42  # ms: later than whatever was committed
KINDS = pytest.mark.parametrize("kind", ["cow", "mor"])


class Own:
    """Tables from the topic of one table of the lab."""

    def __init__(self, lab: Lab, table: str, kind: str, folder: Path) -> None:
        self._lab, self._table, self._kind, self._folder = lab, table, kind, folder
        self.home, self.topic = lab.home, f"lab.public.{table}"
        self.end = readers.end_of(self.home, self.topic)

    def writer(self, name: str, **options: str) -> OwnTable:
        path = (self._folder / name).as_uri()
        return own_table.writer(self._lab.spark, self.home, f"lab.{self._table}", self._kind, path, options)

    def write(self, silver: OwnTable, first: int, end: int) -> None:
        silver.write(own_table.messages(self._lab.spark, self.home, self.topic, first, end))

    def of_generation(self, generation: int, end: int, offset: int) -> DataFrame:
        """The messages up to `end` as another generation of the connector sends them, from the offset on."""
        own = own_table.messages(self._lab.spark, self.home, self.topic, 0, end).orderBy("offset").collect()
        values = [readers.changed(self.home, bytes(row["value"]), __run=generation) for row in own]
        rows = [(0, offset + place, value) for place, value in enumerate(values)]
        return self._lab.spark.createDataFrame(rows, "partition int, offset long, value binary")

    def live(self, silver: OwnTable) -> Rows:
        return self._lab.living(self._lab.spark.read.format("hudi").load(silver.path), self._table)

    def rows(self, silver: OwnTable, key: int) -> int:
        return int(self._lab.spark.read.format("hudi").load(silver.path).where(f"id = {key}").count())

    def wrong(self, silver: OwnTable) -> set[Any]:
        """The first column of the key of each row that is not as in the source."""
        lake, source = self.live(silver), self._lab.source(self._table)
        return {key[0] for key in {*lake, *source} if lake.get(key) != source.get(key)}


@pytest.fixture
def own(done: Lab, tmp_path: Path) -> Callable[[str, str], Own]:
    return lambda table, kind: Own(done, table, kind, tmp_path)


def ordered_by(monkeypatch: pytest.MonkeyPatch, column: str) -> None:
    monkeypatch.setattr(decode, "order", lambda epoch, offset: f"{identifier(column)} AS _order")


@KINDS
def test_f1_and_f3_an_order_by_lsn(own: Callable[[str, str], Own], kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    hot = own("hot", kind)
    ordered = hot.writer("by offset")
    hot.write(ordered, 0, hot.end)
    assert hot.wrong(ordered) == set()
    ordered_by(monkeypatch, "__lsn")
    ordered = hot.writer("by lsn")
    hot.write(ordered, 0, hot.end)
    assert {1, 903} <= hot.wrong(ordered)  # an insert that waited; a transaction beside the start of the slot


@pytest.fixture
def initial(done: Lab) -> Iterator[Callable[[], None]]:
    """Begins a second capture of the database early, with Debezium's own first snapshot, to topics below initial."""
    early = next(done.databases())
    config = source_connector(early, done.home)
    del config["snapshot.mode.custom.name"]
    own = {"name": PREFIX, "topic.prefix": PREFIX, "slot.name": f"lake_{PREFIX}", "snapshot.mode": PREFIX}
    made = [f"{PREFIX}.public.dawn", f"__debezium-heartbeat.{PREFIX}"]
    for name in made:
        Broker(done.home.kafka_bootstrap).create(Topic(name, 1, 1))
    yield lambda: Connect(done.home).put({**config, **own})
    httpx.delete(
        f"{done.home.connect}/connectors/{PREFIX}", trust_env=False, auth=done.home.connect_login
    ).raise_for_status()
    drop_slot(done.home, own["slot.name"])
    delete_topics(done.home, made)


def test_f2_debeziums_own_snapshot_and_an_order_by_lsn(done: Lab, initial: Callable[[], None]) -> None:
    """A transaction is open while the snapshot is read, and commits after it; the slot was there before."""
    topic = f"{PREFIX}.public.dawn"
    with done.session("early") as late, done.session("early") as other:
        other.execute(f"SELECT pg_create_logical_replication_slot('lake_{PREFIX}', 'pgoutput')")
        other.commit()
        late.execute("UPDATE dawn SET v = 'later still' WHERE id = 1")
        other.execute("UPDATE dawn SET v = v WHERE id = 2")
        other.commit()
        initial()
        readers.wait_for_end(done.home, topic, 2)
        late.commit()
        readers.wait_for_end(done.home, topic, 3)
    assert done.merged("dawn", by="offset", database=PREFIX)[1] == "later still"
    assert done.merged("dawn", by="__lsn", database=PREFIX)[1] == "late", "the snapshot outranks the later change"


@KINDS
def test_f4_an_order_by_commit_time(own: Callable[[str, str], Own], kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The beginning of a transaction again, behind its end: all of it has one time."""

    def twice(name: str) -> set[Any]:
        silver = hot.writer(name)
        for span in ((0, hot.end), (0, BEGUN)):
            hot.write(silver, *span)
        return hot.wrong(silver)

    hot = own("hot", kind)
    assert twice("by offset") == set()
    ordered_by(monkeypatch, "__source_ts_ms")
    assert set(range(1100, 1200)) <= twice("by time")


def test_f5_an_order_without_the_life_of_the_topic(
    own: Callable[[str, str], Own], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A topic that was made anew counts from 0 again: here its second life is the beginning of the first."""

    def after_two_lives(name: str) -> str:
        silver = hot.writer(name)
        hot.write(silver, 0, hot.end)
        second = hot.writer(name)
        second.source = replace(second.source, epoch=second.source.epoch + 1)
        hot.write(second, 0, 3)
        return str(hot.live(second)[(903,)][1])

    hot = own("hot", "mor")
    assert after_two_lives("with") == "old"  # as the snapshot read it
    monkeypatch.setattr(decode, "order", lambda epoch, offset: flatten.order(0, offset))
    assert after_two_lives("without") == "new"


@KINDS
def test_f6_the_default_payload(own: Callable[[str, str], Own], kind: str) -> None:
    """Old messages again, in a later commit."""
    moving = own("moving", kind)
    payload = {"hoodie.datasource.write.payload.class": OVERWRITE, "hoodie.compaction.payload.class": OVERWRITE}
    wrong = {}
    for name, options in {"ours": {}, "default": payload}.items():
        silver = moving.writer(name, **options)
        for span in ((0, moving.end), (0, 8)):
            moving.write(silver, *span)
        wrong[name] = moving.wrong(silver)
    assert wrong["ours"] == set()
    assert {12, 13} <= wrong["default"]  # they were deleted, and are back


@KINDS
def test_what_a_replaced_generation_sent_arrives_late(
    own: Callable[[str, str], Own], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next generation of the connector sent all of it again; then comes what the network still had (ADR 23)."""

    def late(name: str) -> set[Any]:
        silver = moving.writer(name)
        for generation, first, offset in (
            (1, moving.end, 0),
            (RESTARTED, moving.end, moving.end),
            (1, 8, 2 * moving.end),
        ):
            silver.write(moving.of_generation(generation, first, offset))
        assert silver.position["offsets"] == {"0": 2 * moving.end + 8}
        return moving.wrong(silver)

    moving = own("moving", kind)
    assert late("fenced") == set()
    monkeypatch.setattr(fencing, "stale_generations", lambda known: [])
    assert {12, 13} <= late("let in")


@KINDS
def test_the_own_record_index_of_hudi(own: Callable[[str, str], Own], kind: str) -> None:
    """Two rows came in two commits and leave their partition in a third one: 0.14 finds each of them twice."""
    moving = own("moving", kind)
    keys = [record["id"] for record in readers.topic_records(moving.home, moving.topic)]
    ends = [0, keys.index(11) + 1, keys.index(12) + 1, moving.end]

    def moved(name: str, **options: str) -> OwnTable:
        silver = moving.writer(name, **options)
        for first, end in itertools.pairwise(ends):
            moving.write(silver, first, end)
        return silver

    ours = moved("ours")
    assert (moving.wrong(ours), moving.rows(ours, 11)) == (set(), 1)
    try:
        assert moving.rows(moved("Hudi's", **{"hoodie.index.class": ""}), 11) > 1
    except Py4JJavaError as error:  # or it fails: in which order it meets them is chance
        assert "Both version of records do not have location set" in str(error)


@pytest.mark.parametrize(("pruning", "torn"), [(None, False), ("true", True)])
def test_a_query_that_was_planned_before_a_commit(
    own: Callable[[str, str], Own], pruning: str | None, torn: bool
) -> None:
    """It shows the rows of before or of behind the commit, never some of each."""
    moving = own("moving", "mor")
    records = readers.topic_records(moving.home, moving.topic)
    crossed = itertools.takewhile(lambda record: record["id"] < ADDED, records)  # a few, and nothing between them
    parts = [record["part"] for record in crossed]
    middle = max(parts.index(part) for part in set(parts))  # the rest has a partition that is new: a base file
    silver = moving.writer(f"pruning {pruning}")
    moving.write(silver, 0, middle)
    with session_setting(silver.read().sparkSession, PRUNING, pruning):
        planned = silver.read()
        states = [shown(silver)]
        moving.write(silver, middle, len(parts))
        assert (sorted(map(str, planned.collect())) in [*states, shown(silver)]) != torn


def shown(silver: OwnTable) -> list[str]:
    """All rows as a query shows them that nothing is beside."""
    return sorted(map(str, silver.read().collect()))


@contextmanager
def session_setting(spark: SparkSession, name: str, value: str | None) -> Iterator[None]:
    """None: as it is."""
    before = spark.conf.get(name)
    assert before is not None
    spark.conf.set(name, value or before)
    try:
        yield
    finally:
        spark.conf.set(name, before)


@pytest.mark.parametrize("table", ["hot", "moving"])
def test_the_first_commit_after_a_crash(
    own: Callable[[str, str], Own], table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hudi rolls back what was broken off under a later name than the commit's, and readers stop in front of it."""

    def crashed(name: str) -> set[Any]:
        rows = some.writer(name)
        some.write(rows, 0, middle)
        some.write(rows, middle, some.end)
        path = Path(rows.path.removeprefix("file://"))
        max((path / ".hoodie").glob("*.deltacommit")).unlink()  # all is written but that it is complete
        some.write(some.writer(name, **{"hoodie.rollback.using.markers": "false"}), middle, some.end)  # they are gone
        return some.wrong(rows)

    some = own(table, "mor")
    middle = some.end // 2
    assert crashed("rolled back first") == set()
    monkeypatch.setattr(timeline, "unfinished", lambda line: False)
    try:
        assert crashed("at once") != set()
    except AssertionError as doubled:
        assert "a key stands in two rows" in str(doubled)


def test_f7_what_a_delete_did_not_bring(own: Callable[[str, str], Own], monkeypatch: pytest.MonkeyPatch) -> None:
    """Under REPLICA IDENTITY DEFAULT Debezium makes up what it does not know of a deleted row."""

    def names_of_deleted(name: str) -> list[str | None]:
        silver = bare.writer(name)
        bare.write(silver, 0, bare.end)
        rows = silver.read()
        return [row["name"] for row in rows.where("__deleted = 'true'").collect()]

    bare = own("bare", "mor")
    assert names_of_deleted("erased") == [None]
    monkeypatch.setattr(flatten, "keeps_deleted", lambda table: True)
    assert names_of_deleted("kept") == [""]


def test_f9_hudis_own_key_of_several_columns(own: Callable[[str, str], Own]) -> None:
    """It joins them with ',' and ':' as they are: two keys become one text, one row takes the other's place."""
    pairs = own("pairs", "mor")
    both = [record["b"] for record in readers.topic_records(pairs.home, pairs.topic)].index("y,b:z")
    wrong = {}
    for name, options in {"ours": {}, "joined": JOINED_KEY}.items():
        silver = pairs.writer(name, **options)
        for span in ((0, both), (both, pairs.end)):
            pairs.write(silver, *span)
        wrong[name] = pairs.wrong(silver)
    assert wrong["ours"] == set()
    assert "w,b:y" in wrong["joined"]
