"""The feed of one archive: where it begins, when messages are archived, and by whom."""

import threading
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from spark_jobs.hudi.appender import NotPlain
from spark_jobs.kafka.admin import Offsets, Topic
from spark_jobs.runtime.status import Progress
from spark_jobs.streaming import archive_feed, fed_query
from spark_jobs.streaming.archive_feed import MANY, TAKE_S, ArchiveFeed
from tests.clocks import replace_time

TOPIC = "lab.public.t"
HERE = Topic("id", 1)
TRIGGER_S = 60.0
NEVER = archive_feed.NEVER


class Rig:
    """An archive that ends at offset 5 of a topic that ends at `end`; files of 10 messages."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, datums: bool = True, end: int = 9, most: int = 1000) -> None:
        self.calls: list[Any] = []
        self.now = 1000.0
        self.changed = threading.Event()
        self.poison = False
        self.oldest_at = NEVER
        for module in (archive_feed, fed_query):
            replace_time(monkeypatch, module, monotonic=lambda: self.now)
        monkeypatch.setattr(archive_feed, "DatumFiles", lambda *_: self)
        archive: Any = SimpleNamespace(
            name="bronze.t",
            topic=TOPIC,
            table=None,
            registry=None,
            takes_datums=datums,
            file_records=10,
            reached={0: 5},
            resume=lambda: {0: 5},
            accept=lambda topic: None,
            refuse_gap=lambda begin: self.calls.append(("begin", begin)),
            write=lambda batch, progress: self.calls.append(("write", *batch)),
        )
        broker = SimpleNamespace(
            topic=lambda name: HERE, offsets=lambda name: Offsets({0: 2}, {0: end}), ends=lambda name: {0: end}
        )
        context = SimpleNamespace(setJobGroup=lambda *_: None, cancelJobGroup=lambda name: None)
        app: Any = SimpleNamespace(
            broker=broker,
            loop=self,
            progress=Progress(),
            archives=SimpleNamespace(turn=nullcontext),
            spark=SimpleNamespace(sparkContext=context),
        )
        self.feed = ArchiveFeed(app, archive, lambda begin, before: (begin["0"], (before or {})["0"]), TRIGGER_S, most)
        self.feed.begin()
        self.await_thread()

    # --- What a loop does.

    def add(self, feed: ArchiveFeed, end: dict[str, int]) -> None:
        self.calls.append(("add", feed.reached["0"]))

    def remove(self, feed: ArchiveFeed) -> None:
        self.calls.append("remove")

    def advanced(self, feed: ArchiveFeed) -> None:
        self.calls.append(("advanced", feed.reached["0"]))

    def is_behind(self, feed: ArchiveFeed) -> bool:
        return False

    def messages(self, feed: ArchiveFeed) -> str:
        return "messages"

    # --- What the files do.

    def take(self, messages: str) -> dict[str, int]:
        if self.poison:
            raise NotPlain("poison")
        return {"0": 9}

    def save_begun_by(self, moment: float) -> None:
        self.calls.append(("save", moment))

    def oldest(self) -> float:
        return self.oldest_at

    def await_thread(self) -> None:
        for thread in threading.enumerate():
            if thread.name == self.feed.name:
                thread.join(60)

    def turn(self) -> list[Any]:
        self.calls.clear()
        self.feed.turn(HERE)
        self.await_thread()
        return self.calls

    def due_after(self, seconds: float, end: int) -> bool:
        self.now += seconds
        return self.feed.is_due(self.now, {"0": end})


def test_it_begins_after_the_last_file(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Rig(monkeypatch).calls == [("begin", {0: 2}), ("add", 5)]


def test_spark_catches_up_where_much_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The feed would keep it, and the tables of the topic would wait for it."""
    rig = Rig(monkeypatch, end=2500)
    assert [one for one in rig.calls if one[0] in ("write", "add")] == [
        ("write", 5, 1005),
        ("write", 1005, 2005),
        ("add", 2005),
    ]


def test_messages_become_files_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(monkeypatch)
    assert rig.turn() == [("advanced", 9), ("save", rig.now - TRIGGER_S)]


def test_few_messages_wait_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(monkeypatch)
    assert not rig.due_after(0, end=5)
    assert rig.due_after(0, end=7)
    rig.turn()
    assert not rig.due_after(TAKE_S - 1, end=12)
    assert rig.due_after(0, end=9 + MANY)
    assert rig.due_after(1, end=12)


def test_a_file_that_waited_long_is_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(monkeypatch)
    rig.oldest_at = rig.now
    rig.turn()
    assert not rig.due_after(TRIGGER_S - 1, end=9)
    assert rig.due_after(1, end=9)


def test_a_batch_with_poison_is_left_to_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """What came before it is saved, and the feed keeps nothing meanwhile."""
    rig = Rig(monkeypatch)
    rig.poison = True
    assert rig.turn() == [("save", NEVER), "remove", ("write", 5, 9), ("advanced", 9), ("add", 9)]
    assert rig.feed.isActive


def test_other_forms_are_written_by_spark_once_there_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(monkeypatch, datums=False)
    assert not rig.feed.keeps
    assert not rig.due_after(0, end=9)
    assert rig.due_after(0, end=15)
    assert rig.due_after(TRIGGER_S, end=9)
    assert rig.turn() == [("write", 5, 9), ("advanced", 9)]
    assert not rig.due_after(TRIGGER_S, end=9)
