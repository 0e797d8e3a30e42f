"""Administration of the Kafka broker: reads, creates and configures topics."""

import logging
from collections.abc import Iterable
from concurrent.futures import Future
from typing import Any

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from lake.config.errors import BadInput, LakeError
from lake.rendering.topics import Topic

TIMEOUT_S = 10.0
Offsets = dict[str, int]  # partition to next offset

MOST_MESSAGES = 10_000  # of one call


class Reader:
    """Reads topics of one partition from given offsets on; it never waits for messages."""

    def __init__(self, bootstrap: str) -> None:
        settings = {"bootstrap.servers": bootstrap, "group.id": "lake", "log_level": 0}
        self._consumer = Consumer({**settings, "enable.auto.commit": False, "auto.offset.reset": "earliest"})
        self._topics: set[str] = set()

    def follow(self, offsets: Offsets) -> None:
        """Reads these topics, too. offsets: by topic, where one begins that is not read yet."""
        fresh = [TopicPartition(topic, 0, offset) for topic, offset in offsets.items() if topic not in self._topics]
        if fresh:
            self._consumer.incremental_assign(fresh)
            self._topics.update(offsets)

    def messages(self) -> list[Message]:
        """What has arrived since the last call."""
        return [one for one in self._consumer.consume(MOST_MESSAGES, timeout=0.1) if one.error() is None]


class Broker:
    """Raises BadInput if the broker does not answer, LakeError if it refuses a change."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        # Its own log lines would only repeat, on standard error, what the exceptions say.
        silent = logging.getLogger("lake.clients.kafka")
        silent.addHandler(logging.NullHandler())
        silent.propagate = False
        self._client = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0}, logger=silent)

    def answers(self, timeout_s: float) -> bool:
        """True if the broker answers a metadata request and names itself."""
        try:
            return bool(self._client.list_topics(timeout=timeout_s).brokers)
        except KafkaException:
            return False

    def topics(self, wanted: Iterable[Topic]) -> dict[str, Topic]:
        """The wanted topics that exist, with the current values of the wanted settings."""
        try:
            present = self._client.list_topics(timeout=TIMEOUT_S).topics
        except KafkaException:
            raise BadInput(
                "Kafka does not answer", f"broker at {self.bootstrap}", "run: lake up (details: lake logs kafka)"
            ) from None
        return {
            topic.name: Topic(topic.name, len(partitions), len(partitions[0].replicas), self._config(topic))
            for topic in wanted
            if (metadata := present.get(topic.name)) and (partitions := metadata.partitions)
        }

    def end_offsets(self, topics: Iterable[str]) -> dict[str, Offsets]:
        """The next offset of every partition, by topic. LakeError if Kafka does not answer."""
        try:
            found = self._client.list_topics(timeout=TIMEOUT_S).topics
            ends: dict[str, Offsets] = {topic: {} for topic in topics}
            wanted = [TopicPartition(topic, n) for topic in ends if topic in found for n in found[topic].partitions]
            latest = self._client.list_offsets({one: OffsetSpec.latest() for one in wanted}, request_timeout=TIMEOUT_S)
            for partition, future in latest.items():
                ends[partition.topic][str(partition.partition)] = future.result().offset
            return ends
        except KafkaException as error:
            raise LakeError(f"Kafka: {error.args[0].str()}", self.bootstrap, "run: lake up") from None

    def create(self, topic: Topic) -> None:
        """Creates the topic with its settings."""
        new = NewTopic(topic.name, topic.partitions, topic.replication_factor, config=topic.config)
        self._done(self._client.create_topics([new], operation_timeout=TIMEOUT_S), topic.name)

    def set_config(self, topic: Topic) -> None:
        """Sets the given settings of the topic, and no others."""
        resource = ConfigResource(ResourceType.TOPIC, topic.name)
        for key, value in topic.config.items():
            entry = ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)
            resource.add_incremental_config(entry)
        self._done(self._client.incremental_alter_configs([resource]), topic.name)

    def _config(self, topic: Topic) -> dict[str, str]:
        resource = ConfigResource(ResourceType.TOPIC, topic.name)
        entries = self._done(self._client.describe_configs([resource]), topic.name)
        return {key: entries[key].value for key in topic.config if key in entries}

    def _done(self, futures: dict[Any, Future[Any]], topic: str) -> Any:
        """The result of the only future."""
        (future,) = futures.values()
        try:
            return future.result(TIMEOUT_S)
        except (KafkaException, TimeoutError) as error:
            reason = error.args[0].str() if isinstance(error, KafkaException) else "no answer in time"
            raise LakeError(
                f"Kafka refused: {reason}", f"topic {topic} at {self.bootstrap}", "see: lake logs kafka"
            ) from None
