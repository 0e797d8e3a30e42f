"""The Kafka topics of a database: one per table, and the heartbeat of its connector with truncated tables."""

from dataclasses import dataclass, field

from lake.config.definition import Database
from lake.config.environment import Environment

LARGEST_MESSAGE = 16 * 1024 * 1024  # bytes, as producer.override.max.request.size
BESIDES = 512 * 1024  # bytes of a message that are not its row: headers, and the growth of what can't be compressed
HEARTBEAT_RETENTION_HOURS = 24  # it says which tables were truncated, too, and a guardian may be away


@dataclass(frozen=True)
class Topic:
    """One topic as it must be; config holds the settings that differ from the broker's defaults."""

    name: str
    partitions: int
    replication_factor: int
    config: dict[str, str] = field(default_factory=dict)


def largest_row(message: int) -> int:
    """The largest row, in bytes, that fits into a message; LimitSize replaces a larger one by a notice."""
    return message - BESIDES


def topics(database: Database, environment: Environment) -> list[Topic]:
    """All topics of the database, tables first. The partition count never changes afterwards (F25)."""
    hours = environment.kafka.retention_hours
    tables = [
        _topic(table.topic(database.database), table.partitions(environment.kafka.partitions), hours, environment)
        for table in database.tables
    ]
    return [*tables, _topic(database.heartbeat_topic, 1, HEARTBEAT_RETENTION_HOURS, environment)]


def _topic(name: str, partitions: int, hours: int, environment: Environment) -> Topic:
    config = {
        "cleanup.policy": "delete",
        "compression.type": "producer",
        "max.message.bytes": str(LARGEST_MESSAGE),
        "min.insync.replicas": str(environment.kafka.min_insync_replicas),
        "retention.ms": str(hours * 3_600_000),
    }
    return Topic(name, partitions, environment.kafka.replication_factor, config)
