"""Plan and apply against real services: once, twice, one table more, one table less, and refusals."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import psycopg
import pytest
from confluent_kafka import Consumer, TopicPartition
from psycopg import sql
from tenacity import retry, stop_after_delay, wait_fixed

from lake.clients import stream_status
from lake.clients.connect import Connect
from lake.clients.table_status import tables
from lake.config.definition import Database, load_database
from lake.config.environment import Environment
from lake.config.errors import BadInput
from lake.config.report import silent
from lake.local.stack import Stack
from lake.plan.apply import apply, unfit
from lake.plan.diff import changes
from lake.plan.facts import read_facts
from lake.plan.preconditions import findings
from lake.sources.change import Change
from lake.sources.findings import refuse
from lake.state import applied as noted
from tests.clocks import until
from tests.running_lake import RunningLake

pytestmark = pytest.mark.integration
NAME = "depot"
ROWS = 2500
SCHEMA = f"""
CREATE TABLE a (id int PRIMARY KEY, kind text, note varchar(50));
CREATE TABLE b (x int, y varchar(20), n int, PRIMARY KEY (x, y));
INSERT INTO a SELECT i, 'k' || i % 7, NULL FROM generate_series(1, {ROWS}) i;
INSERT INTO b SELECT i, 'y,' || i, i FROM generate_series(1, {ROWS}) i;
CREATE TABLE nokey (id int);
CREATE VIEW looks AS SELECT 1 AS id;
CREATE UNLOGGED TABLE fleeting (id int PRIMARY KEY);
CREATE TABLE wide (id int PRIMARY KEY, note text);
CREATE TABLE narrow (id int PRIMARY KEY, note varchar(100));
CREATE TABLE flagged (id int PRIMARY KEY, few bit(64), many bit(5000), note text);
CREATE DOMAIN area AS regclass;
CREATE DOMAIN corner AS box;
CREATE TYPE size AS ENUM ('s', 'l');
CREATE TABLE shaped (id int PRIMARY KEY, sizes size[], outline area, halves int4range, roles regrole[],
  corners corner[]);
CREATE TABLE twins (id int PRIMARY KEY, "N" int, n int);
CREATE TABLE timed (id int PRIMARY KEY, sizes size, at timestamp);
CREATE SCHEMA app;
CREATE DOMAIN app.date AS text;
CREATE TABLE dated (id int PRIMARY KEY, kind app.date, more app.date[]);
"""


def depot(**tables: Mapping[str, object]) -> Database:
    named = {f"public.{name}": settings for name, settings in tables.items()}
    return Database.model_validate({"database": NAME, "tables": named})


A = {"key": ["id"], "partition": "kind"}
B = {"key": ["x", "y"], "types": ["cow", "mor"]}


@pytest.fixture(scope="module")
def home(lake) -> Iterator[Environment]:  # type: ignore[no-untyped-def]
    home = lake.home
    with psycopg.connect(home.dsn(), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(NAME)))
    with psycopg.connect(home.dsn(NAME)) as connection:
        connection.execute(SCHEMA)
    yield home
    noted.save(home, [*noted.load(home).values(), depot(a=A)])  # as the command does it
    lake.forget(NAME)
    with psycopg.connect(home.dsn(NAME)) as connection:
        left = "SELECT slot_name FROM pg_replication_slots WHERE database = %s UNION SELECT pubname FROM pg_publication"
        assert connection.execute(left.encode(), [NAME]).fetchall() == []
    assert Connect(home).config(f"source_postgres_{NAME}") is None


def others(home: Environment) -> list[Database]:
    """What other tests have defined: it must stay as it is."""
    return [load_database(path) for path in sorted((home.data / "databases").glob("*.yaml"))]


def planned(home: Environment, database: Database) -> list[Change]:
    databases = [*others(home), database]
    facts = read_facts(databases, home)
    refuse(findings(databases, home, facts))
    return changes(databases, home, facts)


def applied(home: Environment, database: Database) -> list[Change]:
    databases = [*others(home), database]
    facts = read_facts(databases, home)
    refuse(findings(databases, home, facts))
    found = changes(databases, home, facts)
    assert unfit(found, databases, home) == []
    assert apply(found, databases, home, facts, report=silent) == {}
    return found


def end_of(home: Environment, topic: str) -> int:
    consumer = Consumer({"bootstrap.servers": home.kafka_bootstrap, "group.id": "test"})
    try:
        return int(consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=10)[1])
    finally:
        consumer.close()


@retry(stop=stop_after_delay(60), wait=wait_fixed(0.3), reraise=True)
def assert_arrived(home: Environment, topic: str, least: int) -> None:
    assert end_of(home, topic) >= least


def pids(home: Environment) -> dict[str, int]:
    return {name: one.state().pid for name, one in Stack(home).supervisors.items()}


@retry(stop=stop_after_delay(60), wait=wait_fixed(0.5), reraise=True)
def settled(home: Environment, name: str, after: float = 0.0) -> float:
    """When a table had its last commit, once all its rows are counted; after: an earlier one, seconds since 1970."""
    (table,) = [table for table in tables(home) if table.name == name]
    assert (table.state, table.rows) == ("running", ROWS)
    assert table.committed_at and table.committed_at > after
    return table.committed_at


def test_life_of_a_definition(home: Environment, lake: RunningLake) -> None:
    assert applied(home, depot(a=A)) != []
    assert applied(home, depot(a=A)) == []
    assert_arrived(home, f"{NAME}.public.a", ROWS)

    Stack(home).start_if_idle("stream")  # as the command does after the first apply
    before = pids(home)
    more = applied(home, depot(a=A, b=B))
    assert [change.object for change in more if change.kind == "snapshot"] == ["public.b"]
    assert applied(home, depot(a=A, b=B)) == []
    assert_arrived(home, f"{NAME}.public.b", ROWS)
    assert end_of(home, f"{NAME}.public.a") == ROWS  # the table that was there is not read again

    loaded = settled(home, f"{NAME}_cow.b")
    with psycopg.connect(home.dsn(NAME)) as connection:
        connection.execute("UPDATE b SET n = 0 WHERE x = 1")
    assert_arrived(home, f"{NAME}.public.b", ROWS + 1)
    settled(home, f"{NAME}_cow.b", loaded)
    question = f"SELECT n FROM {NAME}_cow.b WHERE x = 1"
    assert lake.cold.json("sql", question)["rows"] == [{"n": 0}]
    assert lake.json("sql", question, "--as-of", datetime.fromtimestamp(loaded, UTC).isoformat())["rows"] == [{"n": 1}]
    assert pids(home) == before  # the table came, and is queried, without a restart of anything

    once = applied(home, depot(a=A, b={**B, "types": ["mor"]}))
    assert [(one.action, one.object) for one in once] == [("stop writing", f"{NAME}_cow.b"), ("write", "pipeline.json")]
    until(lambda: f"{NAME}_cow.b" not in stream_status.reported(home), "the streaming job goes on writing it")
    written = settled(home, f"{NAME}_mor.b")
    with psycopg.connect(home.dsn(NAME)) as connection:
        connection.execute("UPDATE b SET n = 2 WHERE x = 1")
    settled(home, f"{NAME}_mor.b", written)
    assert lake.json("sql", question)["rows"] == [{"n": 0}]  # it stays as it was, and is still queried
    assert lake.json("sql", f"SELECT n FROM {NAME}_mor.b_rt WHERE x = 1")["rows"] == [{"n": 2}]

    less = applied(home, depot(a=A))
    assert any("drop public.b" in change.action for change in less)
    assert applied(home, depot(a=A)) == []
    assert end_of(home, f"{NAME}.public.b") == ROWS + 2


@pytest.mark.parametrize(
    ("table", "settings", "says"),
    [
        ("absent", {"key": ["id"]}, "no table public.absent"),
        ("nokey", {"key": ["id"]}, "no primary key"),
        ("looks", {"key": ["id"]}, "is a view"),
        ("fleeting", {"key": ["id"]}, "not in the write-ahead log"),
        ("b", {"key": ["x"]}, r"\(x\) is no key of public.b"),
        ("b", {**B, "partition": "z"}, "no column 'z'"),
        ("wide", {"key": ["id"], "replica_identity": "default", "delete": "hard"}, "unchanged large value of note"),
        (
            "wide",
            {"key": ["id"], "replica_identity": "default", "on_bad_message": "quarantine"},
            "may contain it",
        ),
        ("flagged", {"key": ["id"], "replica_identity": "default"}, "large value of many did not change"),
        (
            "shaped",
            {"key": ["id"]},
            r"types that the lake can't keep: outline regclass, roles regrole\[\], corners corner\[\]",
        ),
        ("twins", {"key": ["id"]}, "differ by case only"),
        ("dated", {"key": ["id"]}, r"kind app\.date, more app\.date\[\]"),
        ("timed", {"key": ["id"], "partition": "at"}, "column at is timestamp without time zone"),
    ],
)
def test_refused(home: Environment, table: str, settings: dict[str, object], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        planned(home, depot(**{table: settings}))


def test_a_partition_by_an_enum_is_accepted(home: Environment) -> None:
    assert planned(home, depot(timed={"key": ["id"], "partition": "sizes"}))


@pytest.mark.parametrize("table", ["narrow", "wide"])
def test_identity_default_is_accepted(home: Environment, table: str) -> None:
    settings = {"key": ["id"], "replica_identity": "default"}
    assert all("replica identity" not in change.action for change in planned(home, depot(**{table: settings})))


def test_a_database_that_is_not_there(home: Environment) -> None:
    absent = Database.model_validate({"database": "absent", "tables": {"public.a": {"key": ["id"]}}})
    with pytest.raises(BadInput, match="there is no database 'absent'"):
        planned(home, absent)
