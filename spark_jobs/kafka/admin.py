"""Topics in Kafka: their ids, and the offsets between which they hold messages."""

import threading
from contextlib import closing
from typing import Any, Dict, Iterable, List, NamedTuple, Optional

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from spark_jobs.runtime.jvm import java, java_map
from spark_jobs.runtime.pipeline import Pipeline

PREFIX = "kafka."
ADMIN = "org.apache.kafka.clients.admin."
NO_ID = "AAAAAAAAAAAAAAAAAAAAAA"  # Kafka's Uuid of zeros, from a broker that gives topics no id
UNKNOWN = "UnknownTopicOrPartitionException"
PRESENT = "TopicExistsException"


class Topic(NamedTuple):
    """The topic that has a name now. One that does not exist has no id and no partitions.

    id: a re-created topic of that name has another id (KIP-516); '' if the broker gives none
    partitions: how many
    """

    id: str
    partitions: int


class Offsets(NamedTuple):
    """What a topic holds: per partition the first offset that is still there, and the next one to be written."""

    begin: Dict[int, int]
    end: Dict[int, int]


class Broker:
    """One connection, made at the first call. Threads may share it.

    settings: as Spark's Kafka source takes them ("kafka.<name>").
    """

    def __init__(self, spark: SparkSession, settings: Dict[str, str]) -> None:
        self._spark = spark
        self._settings = settings
        self._lock = threading.Lock()
        self._made: Any = None

    def close(self) -> None:
        if self._made is not None:
            self._made.close()

    def topic(self, name: str) -> Topic:
        """The topic that has the name now."""
        return self.topics([name])[name]

    def topics(self, names: Iterable[str]) -> Dict[str, Topic]:
        """The topics that have these names now, in one request."""
        return {name: _topic(found) for name, found in self._descriptions(names).items()}

    def offsets(self, topic: str) -> Offsets:
        """The offsets as they are now; none for a topic that does not exist."""
        partitions = self._partitions([topic])
        begin, end = self._listed(partitions, "earliest"), self._listed(partitions, "latest")
        return Offsets(begin.get(topic, {}), end.get(topic, {}))

    def ends(self, topic: str) -> Dict[int, int]:
        """The next offset of each partition; none for a topic that does not exist."""
        return self.ends_of([topic]).get(topic, {})

    def ends_of(self, topics: Iterable[str]) -> Dict[str, Dict[int, int]]:
        """The same of several topics, in two requests; without those that do not exist."""
        return self._listed(self._partitions(topics), "latest")

    def create(self, name: str, partitions: int) -> None:
        """Creates a topic unless there is one of that name; all else is the broker's default."""
        optional = java(self._spark, "java.util.Optional")
        new = java(self._spark, ADMIN + "NewTopic")(name, optional.of(partitions), optional.empty())
        try:
            self._admin().createTopics(java(self._spark, "java.util.Collections").singleton(new)).all().get()
        except Py4JJavaError as error:
            if PRESENT not in str(error.java_exception):
                raise

    def _admin(self) -> Any:
        with self._lock:
            if self._made is None:
                properties = client_settings(self._spark, "java.util.Properties", self._settings)
                self._made = java(self._spark, ADMIN + "AdminClient").create(properties)
            return self._made

    def _partitions(self, topics: Iterable[str]) -> List[Any]:
        partition = java(self._spark, "org.apache.kafka.common.TopicPartition")
        known = {topic: found for topic, found in self._descriptions(topics).items() if found is not None}
        return [partition(topic, info.partition()) for topic, found in known.items() for info in found.partitions()]

    def _descriptions(self, names: Iterable[str]) -> Dict[str, Optional[Any]]:
        wanted = java(self._spark, "java.util.HashSet")()
        for name in names:
            wanted.add(name)
        answers = self._admin().describeTopics(wanted).topicNameValues()
        return {name: _present(answers.get(name)) for name in names}

    def _listed(self, partitions: List[Any], which: str) -> Dict[str, Dict[int, int]]:
        wanted = java(self._spark, "java.util.HashMap")()
        for partition in partitions:
            wanted.put(partition, getattr(java(self._spark, ADMIN + "OffsetSpec"), which)())
        answers = self._admin().listOffsets(wanted).all().get()
        found: Dict[str, Dict[int, int]] = {}
        for partition in partitions:
            found.setdefault(str(partition.topic()), {})[int(partition.partition())] = int(
                answers.get(partition).offset()
            )
        return found


def client_settings(spark: SparkSession, kind: str, settings: Dict[str, str]) -> Any:
    """Settings of Spark's Kafka source ("kafka.<name>") as a client of Kafka takes them: a Java map of that class."""
    return java_map(spark, kind, {name[len(PREFIX) :]: value for name, value in settings.items()})


def _present(answer: Any) -> Optional[Any]:
    """The description of a topic (a Java KafkaFuture); None if there is no such topic."""
    try:
        return answer.get()
    except Py4JJavaError as error:
        if UNKNOWN in str(error.java_exception):
            return None
        raise


def _topic(found: Optional[Any]) -> Topic:
    if found is None:
        return Topic("", 0)
    known = str(found.topicId().toString())
    return Topic(known if known != NO_ID else "", found.partitions().size())


def topic_offsets(spark: SparkSession, pipeline: Pipeline, topic: str) -> Offsets:
    """The topic's offsets now; none for a topic that does not exist."""
    with closing(Broker(spark, pipeline.kafka)) as broker:
        return broker.offsets(topic)
