"""The topics of a database."""

from pathlib import Path

from lake.config.definition import load_database
from lake.config.environment import Environment
from lake.rendering.topics import Topic, topics

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
        Topic("__debezium-heartbeat.moma", 1, 1, {**WEEK, "retention.ms": "3600000"}),
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
