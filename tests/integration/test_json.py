"""A database whose messages are JSON without a registry (the whole outbox of Northwind is in tests/acceptance)."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.integration import readers
from tests.running_lake import RunningLake

pytestmark = pytest.mark.integration
NAME = "notes"
DEFINITION = Path(__file__).parent / "json" / "notes.yaml"
TOPIC = f"{NAME}.public.note"
CREATED = (
    "CREATE TABLE note (id int PRIMARY KEY, author text NOT NULL, day date, text text)",
    "INSERT INTO note VALUES (1, 'Ada', '2026-02-28', 'é €'), (2, 'Ada', NULL, NULL), (3, 'Bo', '1969-12-31', '')",
)
CHANGES = (
    "UPDATE note SET text = 'new', day = '2026-03-01' WHERE id = 1",
    "DELETE FROM note WHERE id = 2",
    "INSERT INTO note VALUES (4, 'Bo', '2026-03-02', '{\"a\": 1}')",
)


def test_messages_in_json_become_a_table_and_an_archive(lake: RunningLake, spark: SparkSession) -> None:
    lake.execute("postgres", f"CREATE DATABASE {NAME}")
    lake.execute(NAME, *CREATED)
    lake.define_as(DEFINITION)
    lake.apply()
    lake.drain(NAME)
    lake.execute(NAME, *CHANGES)
    lake.drain(NAME)
    assert lake.json("verify", NAME)["equal"]  # the archive has all offsets, too
    assert_messages(lake)
    assert_archive(lake, spark)
    lake.forget(NAME)


def assert_messages(lake: RunningLake) -> None:
    sent = [json.loads(value) for value in readers.topic_values(lake.home, TOPIC)]
    assert [(one["__op"], one["id"], one["author"]) for one in sent[:3]] == [
        ("r", 1, "Ada"),
        ("r", 2, "Ada"),
        ("r", 3, "Bo"),
    ]
    assert [(one["__op"], one["id"]) for one in sent[3:]] == [("u", 1), ("d", 2), ("c", 4)]
    assert (sent[0]["text"], sent[2]["day"], sent[5]["text"]) == ("é €", -1, '{"a": 1}')


def assert_archive(lake: RunningLake, spark: SparkSession) -> None:
    """By author, a JSON object per line, at most two in a file."""
    keys = readers.object_keys(lake.home, f"bronze/topics/{TOPIC}/")
    assert {key.rpartition("/")[0].rpartition("/")[2] for key in keys} == {"author=Ada", "author=Bo"}
    lines = [(readers.bucket_folder(lake.home) / key).read_text().splitlines() for key in keys]
    assert max(map(len, lines)) <= 2
    assert sorted(json.loads(line)["__offset"] for file in lines for line in file) == list(range(6))
    found = spark.sql(f"SELECT count(*) AS rows, count(DISTINCT id) AS notes FROM {NAME}_bronze.note").collect()
    assert [tuple(row) for row in found] == [(6, 4)]
