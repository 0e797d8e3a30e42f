"""Cases A26 to A32 on Pagila: envelopes and flat rows, keys that change, and foreign keys that restrict.

The definition is that of posts/: envelopes at first, the posts' REPLICA IDENTITY DEFAULT, an archive in Parquet. Under
DEFAULT a delete carries its key alone, and Debezium invents the columns that are NOT NULL.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import httpx
import pytest
from confluent_kafka.admin import AdminClient
from pyspark.sql import SparkSession

from lake.config.environment import PROJECT, Environment
from tests.acceptance.museum import Museum
from tests.integration import readers
from tests.running_lake import RunningLake

pytestmark = pytest.mark.integration
DEFINITION = PROJECT / "posts" / "databases" / "pagila.yaml"
EPOCH = 0  # 1970-01-01, of a column that is NOT NULL
TABLES = ("actor", "category", "film", "film_actor", "film_category", "language")
A27 = (
    "UPDATE film SET release_year = 2021, rental_rate = 2.99 WHERE film_id = 1",
    "UPDATE film SET rental_duration = 3 WHERE film_id = 2",  # it is already
    "INSERT INTO category (name) VALUES ('Techno Thriller')",
    "UPDATE film_category SET category_id = (SELECT max(category_id) FROM category) WHERE film_id = 3",
    "UPDATE actor SET first_name = 'KATE', last_name = 'WINSLET' WHERE actor_id = 6",
    "DELETE FROM film_actor WHERE film_id = 375",
)
A28 = (
    "UPDATE film SET release_year = 2019, rental_rate = 3.99 WHERE film_id = 1",
    "UPDATE film SET rental_duration = 4 WHERE film_id = 2",
    "UPDATE film SET rental_duration = 7 WHERE film_id = 2",
    "INSERT INTO category (name) VALUES ('Steampunk')",
    "UPDATE film_category SET category_id = (SELECT max(category_id) FROM category) WHERE film_id = 3",
    "UPDATE film SET release_year = 2017, rental_rate = 3.99 WHERE film_id = 4",
    "UPDATE film_actor SET film_id = 100 WHERE film_id = 5",
    "UPDATE film_category SET film_id = 100 WHERE film_id = 5",
    "UPDATE inventory SET film_id = 100 WHERE film_id = 5",
    "DELETE FROM film WHERE film_id = 5",
)
A29 = [
    (1, "ACADEMY DINOSAUR", 2019, Decimal("3.99"), 6),
    (2, "ACE GOLDFINGER", 2006, Decimal("4.99"), 7),
    (3, "ADAPTATION HOLES", 2006, Decimal("2.99"), 7),
    (4, "AFFAIR PREJUDICE", 2017, Decimal("3.99"), 5),
]
RATINGS = ("G", "PG", "PG-13", "R", "NC-17")
Record = dict[str, Any]


class Films:
    """Pagila in the lake."""

    def __init__(self, lake: RunningLake, spark: SparkSession) -> None:
        self.lake = lake
        self.spark = spark
        self.look = Museum(lake, spark).sql

    @property
    def home(self) -> Environment:
        return self.lake.home

    def end(self, table: str) -> int:
        return readers.end_of(self.home, topic(table))

    def records(self, table: str, begin: int, count: int = 0) -> list[Record]:
        readers.wait_for_end(self.home, topic(table), begin + count)
        return readers.topic_records(self.home, topic(table), begin)

    def versions(self, subject: str) -> list[int]:
        address = f"{self.home.registry}/apis/ccompat/v7/subjects/{subject}/versions"
        return list(httpx.get(address, trust_env=False).raise_for_status().json())


def topic(table: str) -> str:
    return f"pagila.public.{table}"


@pytest.fixture(scope="module")
def films(lake: RunningLake, spark: SparkSession) -> Iterator[Films]:
    lake.run("load", "pagila")
    lake.define_as(DEFINITION)
    lake.apply()
    lake.drain("pagila")
    yield Films(lake, spark)
    lake.forget("pagila")


@pytest.fixture(scope="module")
def first_changes(films: Films) -> Films:
    """A27, while the connector sends envelopes."""
    films.lake.execute("pagila", *A27)
    return films


def test_a26_topics_and_artifacts(films: Films) -> None:
    topics = AdminClient({"bootstrap.servers": films.home.kafka_bootstrap}).list_topics(timeout=10).topics
    assert sorted(name for name in topics if name.startswith("pagila.")) == sorted(map(topic, TABLES))
    address = f"{films.home.registry}/apis/ccompat/v7/subjects"
    subjects = httpx.get(address, trust_env=False).raise_for_status().json()
    assert sorted(name for name in subjects if name.startswith("pagila.")) == sorted(
        f"{topic(table)}-{side}" for table in TABLES for side in ("key", "value")
    )


def test_a27_films(first_changes: Films) -> None:
    first = first_changes.records("film", 0)[0]
    assert (first["op"], first["before"]) == ("r", None)
    assert film(first["after"]) == (1, Decimal("0.99"), 2006, 6)
    assert (first["after"]["rating"], first["after"]["length"]) == ("PG", 86)
    assert Decimal(first["after"]["replacement_cost"]) == Decimal("20.99")
    one, two = first_changes.records("film", 1000, 2)
    assert (one["op"], one["before"], film(one["after"])) == ("u", None, (1, Decimal("2.99"), 2021, 6))
    assert (two["op"], film(two["after"])[0], film(two["after"])[3]) == ("u", 2, 3)  # a change without a difference


def test_a27_categories_and_actors(first_changes: Films) -> None:
    (category,) = first_changes.records("category", 16, 1)
    assert (category["op"], category["after"]["category_id"]) == ("c", 17)
    gone, come = first_changes.records("film_category", 1000, 2)
    assert (gone["op"], pair(gone["before"], "film_id", "category_id"), gone["after"]) == ("d", (3, 6), None)
    assert (come["op"], pair(come["after"], "film_id", "category_id")) == ("c", (3, 17))
    (actor,) = first_changes.records("actor", 200, 1)
    assert (actor["op"], actor["after"]["first_name"], actor["after"]["last_name"]) == ("u", "KATE", "WINSLET")
    deleted = first_changes.records("film_actor", 5462, 5)
    assert [one["op"] for one in deleted] == ["d"] * 5
    assert sorted(one["before"]["actor_id"] for one in deleted) == [5, 62, 95, 130, 165]
    assert {one["before"]["film_id"] for one in deleted} == {375}
    assert {one["before"]["last_update"] for one in deleted} == {EPOCH}
    assert {one["after"] for one in deleted} == {None}


def test_tables_made_of_envelopes_are_right(first_changes: Films) -> None:
    first_changes.lake.run("verify", "pagila")


@pytest.fixture(scope="module")
def unwrapped(first_changes: Films) -> tuple[Films, dict[str, int]]:
    """The same capture with unwrap, and the end of each topic before the tables are read again."""
    lake = first_changes.lake
    lake.drain("pagila")
    lake.define_as(DEFINITION, envelope=False)
    lake.apply()
    began = {table: first_changes.end(table) for table in TABLES}
    lake.run("resnapshot", "pagila")
    return first_changes, began


def test_a26_unwrap_adds_a_version_to_each_value(unwrapped: tuple[Films, dict[str, int]]) -> None:
    for side, versions in (("value", [1, 2]), ("key", [1])):
        found = {table: unwrapped[0].versions(f"{topic(table)}-{side}") for table in TABLES}
        assert found == dict.fromkeys(TABLES, versions)


@pytest.fixture(scope="module")
def changed(unwrapped: tuple[Films, dict[str, int]]) -> tuple[Films, dict[str, int]]:
    """A28, and the end of each topic before the tables were read again."""
    films, began = unwrapped
    films.lake.execute("pagila", *A28)
    films.lake.drain("pagila")
    return films, began


def test_a28_bronze(changed: tuple[Films, dict[str, int]]) -> None:
    films, began = changed
    seen = [one for one in films.records("film", began["film"]) if one["film_id"] <= 5]
    found = {number: [film(one)[1:] for one in seen if one["film_id"] == number] for number in range(1, 6)}
    rate = Decimal
    assert found == {
        1: [(rate("2.99"), 2021, 6), (rate("3.99"), 2019, 6)],
        2: [(rate("4.99"), 2006, 3), (rate("4.99"), 2006, 4), (rate("4.99"), 2006, 7)],
        3: [(rate("2.99"), 2006, 7)],
        4: [(rate("2.99"), 2006, 5), (rate("3.99"), 2017, 5)],
        5: [(rate("2.99"), 2006, 6), (rate("4.99"), None, 3)],
    }
    read, deleted = [one for one in seen if one["film_id"] == 5]
    assert (read["__op"], deleted["__op"], deleted["__deleted"]) == ("r", "d", "true")
    assert (deleted["title"], deleted["last_update"]) == ("", EPOCH)


def test_a29_newest_of_each_film(changed: tuple[Films, dict[str, int]]) -> None:
    columns = "film_id, title, release_year, rental_rate, rental_duration"
    rows = changed[0].look(
        f"SELECT {columns} FROM pagila_cow.film WHERE film_id <= 5 AND __deleted = 'false' ORDER BY film_id"
    )
    assert [tuple(row) for row in rows] == A29


def test_a30_films_by_rating(changed: tuple[Films, dict[str, int]]) -> None:
    films, _ = changed
    file = PROJECT / "data" / "pagila" / "films_by_rating.yaml"
    result = films.lake.json("refine", str(file))
    assert result["rows"] == 999
    assert {one["partition"] for one in result["partitions"]} == {f"rating={one}" for one in RATINGS}
    rows = films.look("SELECT film_id, rating FROM refined.films_by_rating WHERE film_id <= 5")
    assert sorted(map(tuple, rows)) == [(1, "PG"), (2, "G"), (3, "NC-17"), (4, "G")]


def test_a31_keys(changed: tuple[Films, dict[str, int]]) -> None:
    films, began = changed
    (steampunk,) = films.look("SELECT category_id FROM pagila_cow.category WHERE name = 'Steampunk'")
    assert steampunk.category_id == 18
    live = (
        "SELECT film_id, category_id FROM pagila_cow.film_category WHERE __deleted = 'false' AND film_id IN (3, 5, 100)"
    )
    assert sorted(map(tuple, films.look(live))) == [(3, 18), (100, 8), (100, 9)]
    moved = [one for one in films.records("film_actor", began["film_actor"]) if one["__op"] != "r"]
    assert sorted((one["__op"], one["film_id"]) for one in moved) == [("c", 100)] * 5 + [("d", 5)] * 5
    assert sorted(one["actor_id"] for one in moved if one["__op"] == "c") == [51, 59, 103, 181, 200]
    actors = films.look("SELECT actor_id FROM pagila_cow.film_actor WHERE film_id = 100 AND __deleted = 'false'")
    assert len(actors) == 10
    topics = AdminClient({"bootstrap.servers": films.home.kafka_bootstrap}).list_topics(timeout=10).topics
    assert not [name for name in topics if "inventory" in name]


def test_a32_five_flat_rows(changed: tuple[Films, dict[str, int]]) -> None:
    films, _ = changed
    end = films.end("film_actor")
    films.lake.execute("pagila", "DELETE FROM film_actor WHERE film_id = 376")
    films.lake.drain("pagila")
    rows = films.records("film_actor", end)
    assert sorted(one["actor_id"] for one in rows) == [52, 60, 66, 138, 193]
    assert {one["__deleted"] for one in rows} == {"true"}
    assert len({one["__source_ts_ms"] for one in rows}) == 1


def test_the_lake_equals_its_source(changed: tuple[Films, dict[str, int]]) -> None:
    changed[0].lake.run("verify", "pagila")


@pytest.mark.deviation("the tables keep a deleted row with its key alone: what Debezium invents is no data")
def test_a28_the_deleted_row_has_nulls(changed: tuple[Films, dict[str, int]]) -> None:
    (row,) = changed[0].look("SELECT * FROM pagila_cow.film WHERE film_id = 5")
    assert (row["__op"], row["__deleted"]) == ("d", "true")
    assert {row[name] for name in ("title", "release_year", "rental_rate", "rental_duration", "last_update")} == {None}


def test_the_archive_is_parquet(changed: tuple[Films, dict[str, int]]) -> None:
    films, _ = changed
    keys = readers.object_keys(films.home, "bronze/topics/pagila.public.film/partition=0/")
    name = re.compile(r".*/pagila\.public\.film\+0\+\d{10}\.gz\.parquet")
    assert [key for key in keys if not name.fullmatch(key)] == []
    rows = [films.spark.read.parquet(f"s3a://{films.home.bucket}/{key}").count() for key in keys]
    assert max(rows) == 300


NEWEST = """
    SELECT film_id, title, release_year, CAST(rental_rate AS decimal(4, 2)), rental_duration FROM (
        SELECT *, row_number() OVER (PARTITION BY film_id ORDER BY __source_ts_ms DESC, __offset DESC) AS age
        FROM pagila_bronze.film WHERE __op IS NOT NULL)
    WHERE age = 1 AND __deleted = 'false' AND film_id <= 5 ORDER BY film_id
"""


def test_a29_newest_of_each_film_in_the_archive(changed: tuple[Films, dict[str, int]]) -> None:
    """As the post asks Athena: over all versions in a table of the catalog that nobody had to crawl."""
    changed[0].lake.run("verify", "pagila")  # the archive has all offsets by then
    assert [tuple(row) for row in changed[0].look(NEWEST)] == A29


def film(row: Record) -> tuple[int, Decimal, int | None, int]:
    """Key, rate, year and duration."""
    return row["film_id"], Decimal(row["rental_rate"]), row["release_year"], row["rental_duration"]


def pair(row: Record, *names: str) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)
