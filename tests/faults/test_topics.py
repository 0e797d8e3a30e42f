"""Topics that lost their messages, or the order of them; and the way back (docs/runbooks/lost-topic.md)."""

import shutil
from dataclasses import replace

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions

from tests import remains
from tests.faults import checker
from tests.faults.process_faults import Stop
from tests.faults.rig import Rig
from tests.faults.test_messages import TOLD_WITHIN_S, produce, stopped_by
from tests.faults.trial import Entry
from tests.faults.workload import until
from tests.integration import readers

pytestmark = pytest.mark.faults
CHANGES = ("UPDATE account SET version = version + 1000", "DELETE FROM account WHERE id <= 10")


def names(database: str) -> list[str]:
    """What reads the topic of table account."""
    return [f"{database}_cow.account", f"{database}_mor.account", f"bronze.{database}.public.account"]


def stand_still(rig: Rig, database: str, why: str) -> None:
    for name in names(database):
        until(lambda: stopped_by(rig, name, why), f"{name} does not say it", TOLD_WITHIN_S)  # noqa: B023


def read_anew(rig: Rig, database: str) -> None:
    """The runbook: a new epoch, an archive that begins anew, what was deleted in between; then all is equal."""
    rig.databases[database] = tuple(
        replace(table, settings={**table.settings, "epoch": 1} if table.name == "account" else table.settings)
        for table in rig.databases[database]
    )
    rig.capture(database)
    put_archive_away(rig, f"{database}.public.account")
    rig.lake.run("resnapshot", f"{database}.account")
    rig.execute(database, "UPDATE account SET version = version + 1000")
    rig.come_to_rest(database)
    rig.lake.run("verify", database)
    for one in rig.ends(database).values():
        assert [*checker.equality(one), *checker.uniqueness(one)] == []


def put_archive_away(rig: Rig, topic: str) -> None:
    bronze = readers.bucket_folder(rig.home) / "bronze"
    stop = Stop("stream")
    stop.inject(rig)
    try:
        for folder in (bronze / "topics", bronze / "raw"):
            shutil.rmtree(folder / topic, ignore_errors=True)
    finally:
        stop.heal(rig)


@pytest.mark.matrix("32", "Kafka deletes unread messages")
def test_retention(rig: Rig, entry: Entry, small: str) -> None:
    topic = f"{small}.public.account"
    stop = Stop("stream")
    stop.inject(rig)
    try:
        rig.execute(small, *CHANGES)
        end = rig.wait_for_messages(topic, 210)
        admin = AdminClient({"bootstrap.servers": rig.home.kafka_bootstrap})
        for future in admin.delete_records([TopicPartition(topic, 0, end - 5)]).values():
            future.result(10)
    finally:
        stop.heal(rig)
    told = "deleted before they were read"
    for name, why in zip(names(small), (told, told, ""), strict=True):
        until(lambda: stopped_by(rig, name, why), f"{name} goes on", TOLD_WITHIN_S)  # noqa: B023
    read_anew(rig, small)


@pytest.mark.matrix("32", "a topic gets more partitions")
def test_more_partitions(rig: Rig, entry: Entry, small: str) -> None:
    """A key that has moved begins again at offset 0: its changes would look older than what the table has."""
    topic = f"{small}.public.account"
    admin = AdminClient({"bootstrap.servers": rig.home.kafka_bootstrap})
    for future in admin.create_partitions([NewPartitions(topic, 3)]).values():
        future.result(10)
    rig.execute(small, *CHANGES)
    stand_still(rig, small, "has 3 partitions, not 1")
    done = rig.lake.run("plan", check=False)
    assert (done.returncode, "lost their order" in done.stderr) == (2, True), done.stderr
    remains.delete_topics(rig.home, [topic])
    read_anew(rig, small)


@pytest.mark.matrix("32", "a topic is deleted")
def test_topic_deleted(rig: Rig, entry: Entry, small: str) -> None:
    topic = f"{small}.public.account"
    remains.delete_topics(rig.home, [topic])
    rig.execute(small, *CHANGES)
    for name in names(small):
        rig.wait_until_stopped(name, TOLD_WITHIN_S)
    done = rig.lake.run("plan", check=False)
    assert (done.returncode, "a new one starts at offset 0" in " ".join(done.stderr.split())) == (2, True), done.stderr
    read_anew(rig, small)


@pytest.mark.matrix("32", "a topic is re-created, and has more messages than the old one")
def test_topic_replaced(rig: Rig, entry: Entry, small: str) -> None:
    topic = f"{small}.public.account"
    values = readers.topic_values(rig.home, topic)
    stop = Stop("stream")
    stop.inject(rig)
    try:
        rig.stop_connector(small)
        rig.execute(small, *CHANGES)
        remains.delete_topics(rig.home, [topic])
        remade = AdminClient({"bootstrap.servers": rig.home.kafka_bootstrap})
        until(lambda: remains.create_topic(remade, topic), "the topic is not made anew", TOLD_WITHIN_S)
        for value in [*values, *values[-5:]]:
            produce(rig, topic, value)
        rig.start_connector(small)
    finally:
        stop.heal(rig)
    stand_still(rig, small, "re-created")
    read_anew(rig, small)
