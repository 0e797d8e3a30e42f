"""What has arrived in the topics of all tables: one Kafka consumer (lake.stream.Feed, in Java), which reads ahead."""

import json
import threading
from typing import Any, Dict, NamedTuple

from pyspark.sql import SparkSession

from spark_jobs.kafka.admin import client_settings
from spark_jobs.runtime.jvm import java, java_map

HELD_BYTES = 64 * 1024 * 1024  # of messages that no table has taken yet, of all topics
BATCH_BYTES = 8 * 1024 * 1024  # of messages of one turn: the other tables wait for it
Offsets = Dict[str, int]  # the next offset of each partition


class Arrivals(NamedTuple):
    """ends: by topic that got messages, how far it was read. failures: by topic that is no longer read, the reason."""

    ends: Dict[str, Offsets]
    failures: Dict[str, str]


class Feed:
    """One thread calls poll() and messages(). The other methods may be called by any thread.

    The consumer is made at the first call. settings: as Spark's Kafka source takes them ("kafka.<name>").
    """

    def __init__(self, spark: SparkSession, settings: Dict[str, str]) -> None:
        self._spark = spark
        self._settings = settings
        self._lock = threading.Lock()
        self._made: Any = None

    def follow(self, topic: str, begin: Offsets, keeps: bool) -> None:
        """Reads the topic from there on, also if it is read already. keeps: False where only offsets are wanted."""
        self._consumer().follow(topic, self._map(begin), keeps)

    def leave(self, topic: str) -> None:
        """Reads the topic no more."""
        self._consumer().leave(topic)

    def skip(self, topic: str, before: Offsets) -> None:
        """Forgets the messages before these offsets."""
        self._consumer().skip(topic, self._map(before))

    def poll(self, seconds: float) -> Arrivals:
        """Waits for messages, for so long at most."""
        return Arrivals(**json.loads(self._consumer().poll(int(seconds * 1000))))

    def messages(self, topic: str, begin: Offsets) -> Any:
        """The messages from these offsets on, as many as make a batch: a Java list of ConsumerRecords.

        It is empty if those of these offsets are not here.
        """
        return self._consumer().messages(topic, self._map(begin), BATCH_BYTES)

    def _consumer(self) -> Any:
        with self._lock:
            if self._made is None:
                settings = client_settings(self._spark, "java.util.HashMap", self._settings)
                self._made = java(self._spark, "lake.stream.Feed")(settings, HELD_BYTES)
            return self._made

    def _map(self, offsets: Offsets) -> Any:
        return java_map(self._spark, "java.util.HashMap", offsets)
