"""What clients may do in Kafka that log in by user name and password: the entries of Kafka's own ACLs.

They grant what constructs/lake_constructs/kafka_statements.py grants to a role. Kafka's documentation, "Operations and
resources of protocols", says which operation a request needs.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from lake.config.definition import Database

CONNECT, JOBS = "connect", "jobs"  # the users
INTERNAL_TOPICS = ("configs", "offsets", "status")  # how the worker's own topics end, after its group
CLUSTER = "kafka-cluster"  # Kafka's name for the only resource of its kind
READ = ("DESCRIBE", "READ")
WRITE = ("CREATE", "DESCRIBE", "WRITE")


@dataclass(frozen=True, order=True)
class Acl:
    """The user may do the operations on the resource; prefixed: on each whose name begins so."""

    user: str
    kind: Literal["cluster", "group", "topic"]
    name: str
    operations: tuple[str, ...]
    prefixed: bool = False


def of_connect(databases: Iterable[Database], group: str, sinks: Iterable[str] = ()) -> Iterator[Acl]:
    """The workers of a group with their own topics, and their connectors. sinks: names of those that read topics."""
    # An idempotent producer gets its id from the cluster.
    yield Acl(CONNECT, "cluster", CLUSTER, ("IDEMPOTENT_WRITE",))
    yield Acl(CONNECT, "group", group, READ)
    for end in INTERNAL_TOPICS:
        yield Acl(CONNECT, "topic", f"{group}-{end}", ("CREATE", "DESCRIBE", "DESCRIBE_CONFIGS", "READ", "WRITE"))
    for one in databases:
        yield Acl(CONNECT, "topic", prefix(one), (*WRITE, "READ") if sinks else WRITE, prefixed=True)
        yield Acl(CONNECT, "topic", one.heartbeat_topic, WRITE)
    for name in sinks:
        yield Acl(CONNECT, "group", f"connect-{name}", READ)  # Connect's own naming


def of_jobs(databases: Iterable[Database], groups: Iterable[str]) -> Iterator[Acl]:
    """The Spark jobs, which read the topics of tables. groups: theirs."""
    for one in databases:
        yield Acl(JOBS, "topic", prefix(one), READ, prefixed=True)
    for name in groups:
        yield Acl(JOBS, "group", name, READ)


def of_sales(topics: Sequence[str], groups: Iterable[str]) -> Iterator[Acl]:
    """The jobs of docs/sales.md, which create, write and read their topics."""
    yield Acl(JOBS, "cluster", CLUSTER, ("IDEMPOTENT_WRITE",))
    for name in topics:
        yield Acl(JOBS, "topic", name, (*WRITE, "READ"))
    for name in groups:
        yield Acl(JOBS, "group", name, READ)


def prefix(database: Database) -> str:
    """How the names of all topics with rows of the database begin."""
    return f"{database.topic_prefix}."
