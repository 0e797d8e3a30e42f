"""A whole day on a broker that asks for a user and a password: Connect and the jobs, each with the ACLs of its user."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, Producer

from lake.config.environment import PROJECT
from lake.local.scram import passwords
from lake.rendering.kafka_acls import CONNECT, JOBS
from tests.clocks import HANG_S
from tests.integration.museum_day import CHANGES, add_a_table, equal, museum, restart
from tests.running_lake import RunningLake

pytestmark = [pytest.mark.integration, pytest.mark.slow]
PORTS = 28500


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLake]:
    """One that is up, with the artists loaded and captured."""
    with museum(tmp_path_factory.mktemp("users"), PORTS, Path(__file__).parent / "environments_scram") as running:
        yield running


# --- The day, in this order.


def test_the_snapshot_arrives(lake: RunningLake) -> None:
    assert equal(lake)


def test_changes_arrive(lake: RunningLake) -> None:
    lake.execute("moma", *CHANGES)
    assert equal(lake)


def test_a_new_table_is_a_new_topic_with_rights(lake: RunningLake) -> None:
    add_a_table(lake)
    assert equal(lake)


@pytest.mark.parametrize("service", ["kafka", "connect", "stream"])
def test_a_restart_loses_nothing(lake: RunningLake, service: str) -> None:
    restart(lake, service)
    assert equal(lake)


def test_the_other_jobs_run(lake: RunningLake) -> None:
    topics = {one["topic"]: one for one in lake.json("topics")}
    assert {"moma.public.artists", "moma.public.exhibitions"} <= topics.keys()
    lake.run("jobs", "run", "sales-seed")
    assert "orders: 250" in lake.run("jobs", "run", "sales-batch").stdout


# --- What the broker is strict about.


class Client:
    """A client with the login of a user."""

    def __init__(self, lake: RunningLake, user: str, password: str = "") -> None:
        self._settings = {
            "bootstrap.servers": lake.home.kafka_login,
            "security.protocol": "SASL_SSL",
            "ssl.ca.location": str(lake.home.scram / "broker.pem"),
            "sasl.mechanisms": "SCRAM-SHA-512",
            "sasl.username": user,
            "sasl.password": password or passwords(lake.home)[user],
            "log_level": 0,
        }

    def topics(self) -> set[str]:
        consumer = Consumer({**self._settings, "group.id": "of-a-test"})
        try:
            return {name for name, one in consumer.list_topics(timeout=20).topics.items() if one.error is None}
        finally:
            consumer.close()

    def send(self, topic: str) -> str:
        """What became of one message: "" or the error."""
        said: list[str] = []
        producer = Producer({**self._settings, "message.timeout.ms": 20_000})
        producer.produce(topic, b"x", on_delivery=lambda error, _: said.append(str(error.name()) if error else ""))
        producer.flush(30)
        return said[0]


def test_the_jobs_see_their_topics_and_write_none_of_a_table(lake: RunningLake) -> None:
    jobs = Client(lake, JOBS)
    assert {name for name in jobs.topics() if "sales" not in name} == {"moma.public.artists", "moma.public.exhibitions"}
    assert jobs.send("moma.public.artists") == "TOPIC_AUTHORIZATION_FAILED"


def test_connect_does_not_see_what_is_not_its_own(lake: RunningLake) -> None:
    assert not [name for name in Client(lake, CONNECT).topics() if "sales" in name]


@pytest.mark.parametrize(("user", "password"), [(JOBS, "another"), ("somebody", "else")])
def test_nobody_else_gets_in(lake: RunningLake, user: str, password: str) -> None:
    with pytest.raises(KafkaException):
        Client(lake, user, password).topics()


def test_no_password_is_in_an_argument_a_setting_or_a_log(lake: RunningLake) -> None:
    words = passwords(lake.home).values()
    listed = subprocess.run(["ps", "axww", "-o", "args"], capture_output=True, text=True, timeout=HANG_S).stdout
    written = [*(lake.data / "rendered").rglob("*"), *(lake.data / "logs").rglob("*")]
    texts = [listed, *(one.read_text(errors="replace") for one in written if one.is_file())]
    assert not [text for text in texts for word in words if word in text]


def test_a_rebuild_is_equal(lake: RunningLake) -> None:
    """With the definition of this repository: that of this test is deleted with the lake."""
    environment = {name: value for name, value in lake.environment.items() if name != "LAKE_DATABASES_DIR"}
    command = [sys.executable, "-m", "lake.cli.main", "rebuild", "--yes", "--json"]
    done = subprocess.run(command, env=environment, cwd=PROJECT, capture_output=True, text=True, timeout=HANG_S)
    assert done.returncode == 0, done.stderr
