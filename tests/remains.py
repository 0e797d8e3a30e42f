"""What a connector of a test leaves behind, taken away."""

from collections.abc import Iterable

import psycopg
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic
from tenacity import retry, stop_after_delay, wait_fixed

from lake.config.environment import Environment
from tests.clocks import HANG_S

DROP = "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = %s"


@retry(stop=stop_after_delay(HANG_S), wait=wait_fixed(0.3), reraise=True)
def drop_slot(home: Environment, name: str) -> None:
    """Possible once the task has let go of it; nothing where there is none."""
    with psycopg.connect(home.dsn(), autocommit=True) as connection:
        connection.execute(DROP, [name])


def create_topic(client: AdminClient, name: str) -> bool:
    """False while Kafka still has one of that name, which it deletes in its own time."""
    (made,) = client.create_topics([NewTopic(name, 1, 1)]).values()
    try:
        made.result(10)
    except KafkaException:
        return False
    return True


def delete_topics(home: Environment, names: Iterable[str]) -> None:
    client = AdminClient({"bootstrap.servers": home.kafka_bootstrap})
    for future in client.delete_topics(list(names)).values():
        future.result(10)
