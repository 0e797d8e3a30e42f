"""Messages that no connector wrote, and topics that lost theirs."""

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions

from tests import remains
from tests.faults.faults import Stop
from tests.faults.rig import Rig
from tests.faults.source import OTHER
from tests.faults.trial import Entry
from tests.faults.workload import until

pytestmark = pytest.mark.faults
TOLD_WITHIN_S = 60.0
POISON = {
    "random bytes": bytes(range(200, 256)),
    "nothing": b"",
    "an unknown schema": b"\x00\x00\x7f\xff\xff" + b"\x02" * 20,
    "a frame without a row": b"\x00\x00\x00\x00\x01",
}


@pytest.mark.matrix("31", "a poisoned message: ")
@pytest.mark.parametrize("kind", POISON)
def test_poison(rig: Rig, entry: Entry, small: str, kind: str) -> None:
    """The table stops, with a reason, in front of the message; the other one goes on."""
    before = rig.consumed(small, "account")
    producer = Producer({"bootstrap.servers": rig.home.kafka})
    producer.produce(f"{small}.public.account", POISON[kind])
    producer.flush(10)
    rig.execute(small, "UPDATE account SET version = version + 1000", "INSERT INTO other VALUES (1000, 1)")
    for name in ("cow", "mor"):
        told = f"{small}_{name}.account"
        until(lambda: rig.table_status(told)["state"] == "stopped", f"{told} does not stop", TOLD_WITHIN_S)  # noqa: B023
        assert rig.table_status(told)["reason"]
    assert rig.consumed(small, "account") == before, "the message was passed over"
    rig.databases[small] = (OTHER,)
    rig.reach(small)


@pytest.mark.matrix("32", "Kafka deletes what is not yet read")
def test_retention(rig: Rig, entry: Entry, small: str) -> None:
    topic = f"{small}.public.account"
    stop = Stop("stream")
    stop.inject(rig)
    try:
        rig.execute(small, "UPDATE account SET version = version + 1000")
        end = rig.wait_for_messages(topic, 200)
        admin = AdminClient({"bootstrap.servers": rig.home.kafka})
        for future in admin.delete_records([TopicPartition(topic, 0, end - 10)]).values():
            future.result(10)
    finally:
        stop.heal(rig)
    for name in (f"{small}_cow.account", f"{small}_mor.account", f"bronze.{topic}"):
        until(lambda: rig.table_status(name)["state"] == "stopped", f"{name} does not stop", TOLD_WITHIN_S)  # noqa: B023
        assert rig.table_status(name)["reason"]


@pytest.mark.matrix("32", "a topic gets more partitions")
def test_more_partitions(rig: Rig, entry: Entry, small: str) -> None:
    admin = AdminClient({"bootstrap.servers": rig.home.kafka})
    for future in admin.create_partitions([NewPartitions(f"{small}.public.account", 3)]).values():
        future.result(10)
    done = rig.lake.run("plan", check=False)
    assert (done.returncode, "has 3 partitions, not 1" in done.stderr) == (2, True), done.stderr


@pytest.mark.matrix("32", "a topic is deleted")
def test_topic_deleted(rig: Rig, entry: Entry, small: str) -> None:
    topic = f"{small}.public.account"
    remains.delete_topics(rig.home, [topic])
    rig.execute(small, "UPDATE account SET version = version + 1000")
    for name in (f"{small}_cow.account", f"{small}_mor.account", f"bronze.{topic}"):
        until(lambda: rig.table_status(name)["state"] == "stopped", f"{name} does not stop", TOLD_WITHIN_S)  # noqa: B023
    done = rig.lake.run("plan", check=False)
    assert (done.returncode, "its offsets start again" in done.stderr) == (2, True), done.stderr
