"""A table that HoodieStreamer follows: its beginning, and where it reads again after a change of the schema."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from spark_jobs.archive import followed_table
from spark_jobs.archive.followed_table import Failed, FollowedTable
from spark_jobs.kafka.schema_registry import UnknownSchema, Unreachable


class TakenAway(Exception):
    """How these tests end a table that is followed for ever."""


class Run:
    """HoodieStreamer, which goes on until it is shut down, or ends at once with a failure."""

    failure = ""

    def __init__(self, spark: SparkSession, words: list[str]) -> None:
        self.words, self.over = words, threading.Event()

    def sync(self) -> None:
        if self.failure:
            raise ValueError(self.failure)
        self.over.wait()

    def shut_down(self) -> None:
        self.over.set()


class Story:
    """The table as its looks find it, one after the other: (number of versions, newest commit, its position)."""

    def __init__(self, spark: SparkSession, folder: Path, looks: list[tuple[Any, str, str]]) -> None:
        self.spark, self.path, self.name = spark, "", "t"
        self.target = {"sql": f"{folder.as_uri()}/t.sql", "follow": ["--op", "UPSERT"]}
        self.note = folder / "t.sql.followed"
        self.result: dict[str, Any] = {}
        self.begun: list[str] = []  # the checkpoints that HoodieStreamer was begun with
        self.prepared = 0
        self.loads: list[dict[str, Any]] = []
        self.notes: list[Any] = []
        self._looks, self._now = iter(looks), looks[0]

    # What FollowedTable asks of a StreamedTable.

    def versions(self) -> int:
        found = self._now[0]
        if isinstance(found, Exception):
            raise found
        return int(found)

    def prepare(self) -> None:
        self.prepared += 1

    def words(self, operation: list[str], checkpoint: str = "") -> list[str]:
        self.begun.append(checkpoint)
        return operation

    def note_commits(self, seen: str, operation: list[str]) -> str:
        return seen

    def sync(self, replay: bool) -> None:
        self.result.update(self.loads.pop(0))

    # What it asks of the timeline, and of the lease at each look.

    def checkpoint(self, spark: SparkSession, path: str) -> tuple[str, str]:
        return self._now[1], self._now[2]

    def written(self, spark: SparkSession, path: str) -> bool:
        return bool(self._now[1])

    def check(self) -> None:
        if self.note.exists():
            self.notes.append(json.loads(self.note.read_text()))
        try:
            self._now = next(self._looks)
        except StopIteration:
            raise TakenAway from None


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed_table, "LOOK_S", 0.01)
    monkeypatch.setattr(followed_table, "Run", Run)


def follow(story: Story, monkeypatch: pytest.MonkeyPatch, error: type[Exception] = TakenAway) -> str:
    """The words of the error that it ends with."""
    for name, found in {
        "checkpoint": story.checkpoint,
        "written": story.written,
        "last_instant": lambda *_: "",
    }.items():
        monkeypatch.setattr(followed_table.timeline, name, found)
    with pytest.raises(error) as raised:
        FollowedTable(story, 5.0, story.check).follow()  # type: ignore[arg-type]
    return str(raised.value)


def test_it_goes_on_after_the_last_commit(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    story = Story(spark, tmp_path, [(1, "001", "a"), (1, "002", "b"), (1, "003", "c")])
    follow(story, monkeypatch)
    assert (story.begun, story.prepared, story.result["state"]) == ([""], 1, "running")
    assert json.loads(story.note.read_text()) == [1, "c"]


def test_a_new_version_lets_it_read_again_from_where_none_could_be(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit 003 may have read files of version 2 without its column."""
    looks = [(1, "001", "a"), (1, "002", "b"), (2, "003", "c"), (2, "003", "c"), (2, "004", "d")]
    story = Story(spark, tmp_path, looks)
    follow(story, monkeypatch)
    assert (story.begun, story.prepared) == (["", "b"], 2)
    assert json.loads(story.note.read_text()) == [2, "d"]


def test_what_was_to_be_read_again_is_noted_until_a_commit_has_done_so(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = Story(spark, tmp_path, [(1, "001", "a"), (2, "002", "b"), (2, "002", "b"), (2, "002", "b")])
    follow(story, monkeypatch)
    assert story.begun == ["", "a"]
    assert json.loads(story.note.read_text()) == [1, "a"]


def test_a_version_that_came_while_it_did_not_run_is_noticed(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = Story(spark, tmp_path, [(2, "007", "z"), (2, "008", "zz")])
    story.note.write_text(json.dumps([1, "b"]))
    follow(story, monkeypatch)
    assert story.begun == ["b"]


def test_without_a_safe_position_the_archive_is_read_from_its_beginning(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = Story(spark, tmp_path, [(2, "007", "z"), (2, "008", "zz")])
    story.note.write_text(json.dumps([1, ""]))
    follow(story, monkeypatch)
    (begun,) = story.begun
    assert begun.startswith("beginning ")


def test_a_registry_that_does_not_answer_stops_nothing_and_notes_nothing(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = Unreachable("away")
    story = Story(spark, tmp_path, [(1, "001", "a"), (1, "001", "a"), (away, "002", "b"), (away, "003", "c")])
    follow(story, monkeypatch)
    assert story.begun == [""]
    assert json.loads(story.note.read_text()) == [1, "a"]


def test_the_first_commit_is_made_before_anything_is_followed(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing captured yet; then an archive without a file; then a load; then it is followed."""
    missing = UnknownSchema("nothing was captured yet")
    looks = [(missing, "", ""), (missing, "", ""), (1, "", ""), (1, "", ""), (1, "001", "a"), (1, "001", "a")]
    story = Story(spark, tmp_path, looks)
    story.loads = [{"state": "read", "commits": 0}, {"state": "read", "commits": 1}]
    follow(story, monkeypatch)
    assert (story.loads, story.begun) == ([], [""])


def test_a_load_that_fails_ends_the_job(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    story = Story(spark, tmp_path, [(1, "", ""), (1, "", "")])
    story.loads = [{"state": "failed", "reason": "disk full"}]
    assert follow(story, monkeypatch, Failed) == "disk full"


def test_hoodie_streamer_that_ends_ends_the_job(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Run, "failure", "no such column")
    story = Story(spark, tmp_path, [(1, "001", "a"), (1, "001", "a")])
    assert "no such column" in follow(story, monkeypatch, Failed)
