"""Whether a marker has come through Kafka, seen without taking time from the lake that it is to measure.

Ten are on the way at once while a lake recovers: each of them reading its topics from the start again twice a second,
and decoding all, took one of two cores.
"""

import io

import fastavro
from confluent_kafka import TopicPartition

from lake.config.environment import Environment
from tests.integration import readers

AT_ONCE = 5000  # messages; more come in no half second
SETTINGS = {
    "auto.offset.reset": "earliest",
    "reconnect.backoff.max.ms": 500,  # ten seconds, as by default, would count as the lake's after a broker's return
}


class MarkerWatch:
    """Reads topics from the offsets given on, each message once, until the version was in every one of them."""

    def __init__(self, home: Environment, begins: dict[str, int], version: int) -> None:
        self._missing, self._sign = set(begins), encoded(version)
        self._consumer = readers.consumer_of(home, SETTINGS)
        self._consumer.assign([TopicPartition(topic, 0, begin) for topic, begin in begins.items()])

    def __enter__(self) -> "MarkerWatch":
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.close()

    def arrived(self) -> bool:
        """Whether it was in all of them by now; a broker that is away brings nothing, and is no error."""
        for message in self._consumer.consume(AT_ONCE, timeout=0):
            if not message.error() and self._sign in (message.value() or b""):
                self._missing.discard(message.topic())
        return not self._missing


def encoded(version: int) -> bytes:
    """The bytes of a bigint in an Avro message: those of a number of fifty bits are in no other by chance."""
    out = io.BytesIO()
    fastavro.schemaless_writer(out, "long", version)
    return out.getvalue()
