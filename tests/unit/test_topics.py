"""The topics of a database."""

from pathlib import Path

from lake.aws.environment import load_aws_environment
from lake.aws.rendering import source_connector
from lake.config.definition import Database, load_database
from lake.config.environment import Environment
from lake.rendering.pipeline import pipeline
from lake.rendering.topics import Topic, topics
from lake.sources.engine import Address

PROJECT = Path(__file__).parents[2]
WEEK = {
    "cleanup.policy": "delete",
    "compression.type": "producer",
    "max.message.bytes": "16777216",
    "min.insync.replicas": "1",
    "retention.ms": "604800000",
}


def test_a_topic_per_table_and_the_heartbeat() -> None:
    moma = load_database(PROJECT / "databases" / "moma.yaml")
    assert topics(moma, Environment(name="local", root=PROJECT)) == [
        Topic("moma.public.artists", 1, 1, WEEK),
        Topic("moma.public.artworks", 1, 1, WEEK),
        Topic("moma.public.departments", 1, 1, WEEK),
        Topic("__debezium-heartbeat.moma", 1, 1, {**WEEK, "retention.ms": "86400000"}),
    ]


def test_the_environment_sets_partitions_and_durability() -> None:
    moma = load_database(PROJECT / "databases" / "moma.yaml")
    big = Environment(
        name="prod",
        root=PROJECT,
        kafka={"partitions": 6, "replication_factor": 3, "min_insync_replicas": 2, "retention_hours": 24},
    )
    first, *_, heartbeat = topics(moma, big)
    assert (first.partitions, first.replication_factor) == (6, 3)
    assert (first.config["min.insync.replicas"], first.config["retention.ms"]) == ("2", "86400000")
    assert heartbeat.partitions == 1


def shop() -> Database:
    tables = {f"public.{name}": {"key": ["id"]} for name in "abcd"}
    for name, partitions in {"b": 6, "c": 2, "d": 6}.items():
        tables[f"public.{name}"]["topic_partitions"] = partitions
    return Database.model_validate({"database": "shop", "tables": tables})


def test_a_table_may_have_its_own_number_of_partitions() -> None:
    environment = Environment(name="local", root=PROJECT)
    assert [topic.partitions for topic in topics(shop(), environment)] == [1, 6, 2, 6, 1]
    assert [table["partitions"] for table in pipeline([shop()], environment)["tables"]] == [1, 6, 2, 6]


def test_connect_makes_such_topics_on_aws() -> None:
    address, dev = Address("host", 5432, "${secrets:database:password}"), load_aws_environment(PROJECT, "dev")
    settings = source_connector(PROJECT, shop(), dev, address=address, registry="r", tls={})
    made = {key.removeprefix("topic.creation."): value for key, value in settings.items()}
    assert (made["default.partitions"], made["groups"]) == ("1", "heartbeat,partitions6,partitions2")
    assert made["partitions6.include"] == "shop[.]public[.]b,shop[.]public[.]d"
    assert (made["partitions6.partitions"], made["partitions2.partitions"]) == ("6", "2")
