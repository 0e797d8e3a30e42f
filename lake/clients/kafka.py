"""The Kafka broker as its administrator sees it: topics read, created and set."""

import logging
from collections.abc import Iterable
from concurrent.futures import Future
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from lake.config.errors import BadInput, LakeError
from lake.rendering.topics import Topic

TIMEOUT_S = 10.0


class Broker:
    """Raises BadInput when the broker does not answer, LakeError when it refuses a change."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        # Its own log lines would only repeat, on standard error, what the exceptions say.
        silent = logging.getLogger("lake.clients.kafka")
        silent.addHandler(logging.NullHandler())
        silent.propagate = False
        self._client = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0}, logger=silent)

    def topics(self, wanted: Iterable[Topic]) -> dict[str, Topic]:
        """Those of the wanted topics that exist, with the present values of the settings wanted."""
        try:
            present = self._client.list_topics(timeout=TIMEOUT_S).topics
        except KafkaException:
            raise BadInput(
                "Kafka does not answer",
                f"broker at {self.bootstrap}",
                "run: lake up (lake logs kafka says more)",
            ) from None
        return {
            topic.name: Topic(topic.name, len(partitions), len(partitions[0].replicas), self._config(topic))
            for topic in wanted
            if (metadata := present.get(topic.name)) and (partitions := metadata.partitions)
        }

    def create(self, topic: Topic) -> None:
        """Creates the topic as it must be."""
        new = NewTopic(topic.name, topic.partitions, topic.replication_factor, config=topic.config)
        self._done(self._client.create_topics([new], operation_timeout=TIMEOUT_S), topic.name)

    def set_config(self, topic: Topic) -> None:
        """Sets the topic's settings, leaving all others as they are."""
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
