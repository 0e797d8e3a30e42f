"""What a plan finds between a definition and the facts."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lake.config.definition import Database
from lake.config.environment import Environment
from lake.plan.diff import changes
from lake.plan.facts import Facts
from lake.rendering.pipeline import pipeline
from lake.rendering.topics import topics
from lake.sources.change import Change
from lake.sources.connector import source_connector
from lake.sources.engine import SourceFacts
from lake.sources.postgres.catalog import Catalog, SourceTable

PROJECT = Path(__file__).parents[2]
LOCAL = Environment(name="local", root=PROJECT)
A = {"key": ["id"]}
PUBLISHED = Change("source", "shop", "lake_shop", "add public.b", "ALTER PUBLICATION")
DROPPED = Change("source", "shop", "lake_shop", "drop public.b", "ALTER PUBLICATION")


def shop(**tables: dict[str, object]) -> Database:
    return Database.model_validate({"database": "shop", "tables": {f"public.{name}": tables[name] for name in tables}})


def relation(name: str) -> SourceTable:
    return SourceTable(f"public.{name}", "r", "p", ["id"], [], ["id"], [])


def source(*names: str, missing: Sequence[Change] = (), departed: Sequence[Change] = ()) -> SourceFacts:
    catalog = Catalog("logical", [], True, {f"public.{name}": relation(name) for name in names})
    return SourceFacts(catalog, list(missing), list(departed))


def settled(database: Database) -> Facts:
    """The facts of a lake to which the database has been applied."""
    wanted = topics(database, LOCAL)
    return Facts(
        sources={"shop": source(*(table.name for table in database.tables))},
        wanted_topics=wanted,
        topics={topic.name: topic for topic in wanted},
        connectors={"shop": source_connector(database, LOCAL)},
        pipeline=pipeline([database], LOCAL),
    )


def planned(database: Database, facts: Facts) -> list[Change]:
    return changes([database], LOCAL, facts)


def kinds(database: Database, facts: Facts) -> list[tuple[str, str, str]]:
    return [(change.kind, change.action, change.object) for change in planned(database, facts)]


def test_nothing_to_do_when_what_runs_is_what_is_defined() -> None:
    assert planned(shop(a=A), settled(shop(a=A))) == []


def test_the_first_apply_makes_everything_in_safe_order() -> None:
    database = shop(a=A)
    facts = Facts({"shop": source("a", missing=[PUBLISHED])}, topics(database, LOCAL), {}, {"shop": None}, {})
    assert kinds(database, facts) == [
        ("source", "add public.b", "lake_shop"),
        ("topic", "create", "shop.public.a"),
        ("topic", "create", "__debezium-heartbeat.shop"),
        ("connector", "create", "source_postgres_shop"),
        ("pipeline", "write", "pipeline.json"),
    ]


def test_a_table_added_is_published_before_it_is_captured_and_snapshotted_after() -> None:
    before, after = shop(a=A), shop(a=A, b=A)
    facts = settled(before)
    facts = replace(facts, sources={"shop": source("a", "b", missing=[PUBLISHED])}, wanted_topics=topics(after, LOCAL))
    found = planned(after, facts)
    assert kinds(after, facts) == [
        ("source", "add public.b", "lake_shop"),
        ("topic", "create", "shop.public.b"),
        ("connector", "update", "source_postgres_shop"),
        ("snapshot", "read", "public.b"),
        ("pipeline", "write", "pipeline.json"),
    ]
    assert found[2].detail == "table.include.list: (?-i)public.a -> (?-i)public.a,(?-i)public.b"
    assert found[4].detail == "add shop.public.b"


def test_a_table_removed_leaves_the_publication_last_and_keeps_its_topic() -> None:
    before, after = shop(a=A, b=A), shop(a=A)
    facts = settled(before)
    facts = replace(facts, sources={"shop": source("a", "b", departed=[DROPPED])})
    assert kinds(after, facts) == [
        ("connector", "update", "source_postgres_shop"),
        ("source", "drop public.b", "lake_shop"),
        ("pipeline", "write", "pipeline.json"),
    ]


def test_an_apply_that_broke_before_the_pipeline_file_is_resumed_with_the_snapshot() -> None:
    database = shop(a=A, b=A)
    facts = settled(database)
    facts = replace(facts, sources={"shop": source("a", "b")})
    facts = replace(facts, pipeline=pipeline([shop(a=A)], LOCAL))
    assert kinds(database, facts) == [
        ("snapshot", "read", "public.b"),
        ("pipeline", "write", "pipeline.json"),
    ]


def test_a_raised_epoch_reads_the_table_again() -> None:
    database = shop(a={**A, "epoch": 1})
    assert kinds(database, settled(shop(a=A))) == [
        ("snapshot", "read", "public.a"),
        ("pipeline", "write", "pipeline.json"),
    ]


def test_the_password_is_never_printed() -> None:
    database = shop(a=A)
    facts = settled(database)
    running = {**source_connector(database, LOCAL), "database.password": "hunter2"}
    (change,) = planned(database, replace(facts, connectors={"shop": running}))
    assert change.detail == "database.password changed"


def test_a_topic_setting_that_drifted_is_set_again() -> None:
    database = shop(a=A)
    facts = settled(database)
    topic = facts.topics["shop.public.a"]
    drifted = {**facts.topics, topic.name: replace(topic, config={**topic.config, "retention.ms": "1"})}
    (change,) = planned(database, replace(facts, topics=drifted))
    assert (change.action, change.detail) == ("set", "retention.ms=604800000")


def test_a_type_that_joins_is_read_from_the_source() -> None:
    database = shop(a={**A, "types": ["cow", "mor"]})
    before = settled(shop(a=A))
    assert ("snapshot", "read", "public.a") in kinds(database, before)


def test_a_type_that_leaves_is_written_no_more_and_the_plan_says_what_stays() -> None:
    before = settled(shop(a={**A, "types": ["cow", "mor"]}, b=A))
    left, written = planned(shop(a=A, b=A), before)
    assert (left.kind, left.action, left.object) == ("pipeline", "stop writing", "shop_cow.a")
    assert left.detail == (
        "the Hudi table at s3a://lake/silver/shop/a_cow stays as it is, in the catalog as shop_cow.a, and gets no more "
        "changes; to keep writing it: [cow, mor] for the key tables.public.a.types of databases/shop.yaml; "
        "to delete it: drop shop_cow.a in the catalog, then remove the folder"
    )
    assert (written.kind, written.object, written.detail) == ("pipeline", "pipeline.json", "change shop.public.a")


def test_a_type_in_place_of_another_is_read_and_the_other_stays() -> None:
    database = shop(a={**A, "types": ["cow"]})
    assert kinds(database, settled(shop(a=A))) == [
        ("snapshot", "read", "public.a"),
        ("pipeline", "stop writing", "shop_mor.a_rt"),
        ("pipeline", "write", "pipeline.json"),
    ]
    (left,) = [one for one in planned(database, settled(shop(a=A))) if one.action == "stop writing"]
    assert "in the catalog as shop_mor.a_rt and shop_mor.a_ro," in left.detail
