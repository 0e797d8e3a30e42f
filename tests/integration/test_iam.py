"""A whole day on a broker that speaks MSK's IAM: each program has its role, and the policies of the stacks."""

import base64
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import httpx
import pytest
from botocore.auth import SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from confluent_kafka import Consumer, KafkaException, Producer

from iam.roles import REGION
from lake.aws import rendering
from lake.aws.environment import load_aws_environment
from lake.config.definition import Database, load_databases
from lake.config.environment import PROJECT
from lake.config.report import silent
from lake.local import iam
from lake.plan.apply import apply
from lake.plan.diff import changes
from lake.plan.facts import read_facts
from lake.sources.connector import local_registry_login, local_values
from lake.sources.engine import Address
from tests.clocks import HANG_S, until
from tests.integration.museum_day import CHANGES, add_a_table, equal, museum, restart
from tests.remains import drop_slot
from tests.rights import live
from tests.rights.listed import RECORDED
from tests.running_lake import RunningLake

pytestmark = [pytest.mark.integration, pytest.mark.slow]
PORTS = 28300
# The broker asks this of whoever looks for the coordinator of a group, and takes a no for an answer.
NOT_NEEDED = ("ConnectRole", "kafka-cluster:DescribeTopic", "topic/__consumer_offsets")


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLake]:
    """One that is up, with the artists loaded and captured."""
    with museum(tmp_path_factory.mktemp("iam"), PORTS, Path(__file__).parent / "environments_iam") as running:
        yield running


def calls(lake: RunningLake) -> set[live.Short]:
    """What Connect and the jobs called so far."""
    return live.decisions(lake.home) | live.of_s3(lake.home) | live.of_glue(lake.home)


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


def test_a_bad_message_is_set_aside(lake: RunningLake) -> None:
    producer = Producer({"bootstrap.servers": lake.home.kafka_bootstrap})
    producer.produce("moma.public.exhibitions", b"no frame")
    producer.flush(30)
    until(lambda: len(lake.json("quarantine", "list", "moma")) == 1, "the message is not in quarantine")
    lake.run("quarantine", "drop", "moma", "--yes")
    assert equal(lake)


def test_the_other_jobs_run(lake: RunningLake) -> None:
    topics = {one["topic"]: one for one in lake.json("topics")}
    assert {"moma.public.artists", "moma.public.exhibitions"} <= topics.keys()
    done = lake.run("streamer", "run", "moma.exhibitions", "--once")
    assert "moma_mor_streamer.exhibitions" in done.stdout


def test_sessions_log_in_again(lake: RunningLake) -> None:
    """The tasks of Connect live longer than a session; the broker closes one that did not log in again."""

    def logins() -> int:
        return lake.home.log("kafka").read_text(errors="replace").count("ConnectRole logged in")

    before = logins()
    until(lambda: logins() > before, "nobody logged in again")
    assert equal(lake)


def test_the_broker_refused_nothing_that_was_needed(lake: RunningLake) -> None:
    assert live.decisions(lake.home, allowed=False) <= {NOT_NEEDED}
    assert {role for role, _, _ in live.decisions(lake.home)} == {iam.CONNECT, iam.JOBS}


# --- What the broker is strict about.


class Client:
    """A client that speaks OAUTHBEARER, as AWS's signers for Python, Go and JavaScript do."""

    def __init__(self, lake: RunningLake, role: str, **other: str) -> None:
        variables = {**iam.variables(lake.home, role), **other}
        names = ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN")
        self._keys = Credentials(*(variables[f"AWS_{one}"] for one in names))
        self._host = lake.home.kafka_login.partition(":")[0]
        self._settings = {
            "bootstrap.servers": lake.home.kafka_login,
            "security.protocol": "SASL_SSL",
            "ssl.ca.location": str(lake.home.iam / "broker.pem"),
            "sasl.mechanisms": "OAUTHBEARER",
            "oauth_cb": self._token,
            "log_level": 0,
        }

    def _token(self, _: str) -> tuple[str, float]:
        request = AWSRequest("GET", f"https://{self._host}/?{urlencode({'Action': 'kafka-cluster:Connect'})}")
        SigV4QueryAuth(self._keys, "kafka-cluster", REGION, expires=900).add_auth(request)
        token = base64.urlsafe_b64encode(request.prepare().url.encode()).decode().rstrip("=")
        return token, time.time() + 900

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


def test_a_role_sees_its_topics_and_writes_none(lake: RunningLake) -> None:
    jobs = Client(lake, iam.JOBS)
    assert jobs.topics() == {"moma.public.artists", "moma.public.exhibitions"}
    assert jobs.send("moma.public.artists") == "TOPIC_AUTHORIZATION_FAILED"


@pytest.mark.parametrize(("name", "value"), [("AWS_SECRET_ACCESS_KEY", "other"), ("AWS_SESSION_TOKEN", "stale")])
def test_a_wrong_key_does_not_get_in(lake: RunningLake, name: str, value: str) -> None:
    with pytest.raises(KafkaException):
        Client(lake, iam.JOBS, **{name: value}).topics()


def test_a_deny_takes_effect_at_once(lake: RunningLake) -> None:
    path = lake.home.iam / "account.json"
    before = path.read_text()
    account = json.loads(before)
    arn = account["cluster"].replace(":cluster/", ":topic/") + "/*exhibitions"
    denied = {"Effect": "Deny", "Action": "kafka-cluster:*", "Resource": arn}
    account["roles"][iam.JOBS]["policies"]["Deny"] = {"Version": "2012-10-17", "Statement": [denied]}
    path.write_text(json.dumps(account))
    try:
        assert Client(lake, iam.JOBS).topics() == {"moma.public.artists"}
    finally:
        path.write_text(before)
    assert Client(lake, iam.JOBS).topics() == {"moma.public.artists", "moma.public.exhibitions"}


def test_connect_creates_topics_by_its_own_right(lake: RunningLake) -> None:
    """The connector as it is deployed to AWS: there nobody creates the topics of tables before."""
    name = "shop"
    lake.execute("postgres", f"CREATE DATABASE {name}")
    lake.execute(name, "CREATE TABLE sale (id int PRIMARY KEY)", "INSERT INTO sale VALUES (1)")
    database = Database.model_validate({"database": name, "tables": {"public.sale": {"key": ["id"]}}})
    lake.define(name, {"public.sale": {"key": ["id"]}})
    facts = read_facts([database], lake.home)
    prepared = [one for one in changes([database], lake.home, facts) if one.kind == "source"]
    assert apply(prepared, [database], lake.home, facts, silent) == {}
    with lake.meant():
        iam.write_policies(lake.home)
    settings = {**deployed_connector(lake, database), **local_registry_login(lake.home)}
    url = f"{lake.home.connect}/connectors/{database.connector}/config"
    assert httpx.put(url, json=settings, trust_env=False, auth=lake.home.connect_login).status_code == 201
    try:
        wanted = (iam.CONNECT, "kafka-cluster:CreateTopic", "topic/shop.public.sale")
        until(lambda: wanted in live.decisions(lake.home), "Connect did not create its topic")
        until(lambda: "shop.public.sale" in Client(lake, iam.JOBS).topics(), "there is no such topic")
    finally:
        httpx.delete(url.removesuffix("/config"), trust_env=False, auth=lake.home.connect_login)
        drop_slot(lake.home, f"lake_{name}")
        (lake.databases / f"{name}.yaml").unlink()


def deployed_connector(lake: RunningLake, database: Database) -> dict[str, str]:
    home = lake.home
    address = Address("127.0.0.1", home.ports.postgres, local_values(database, home)["CAPTURE_PASSWORD"])
    dev = load_aws_environment(PROJECT, "dev")
    settings = rendering.source_connector(
        PROJECT, database, dev, address=address, registry=home.registry, tls={"database.sslmode": "disable"}
    )
    return {key: "1" if key.endswith("replication.factor") else value for key, value in settings.items()}


# --- From nothing once more, with the definition of this repository: what it calls is written down.


def test_a_rebuild_is_equal_and_its_calls_are_those_that_are_judged(lake: RunningLake) -> None:
    quarantine = {one for one in calls(lake) if "quarantine" in one[2]}  # nothing is set aside in the rebuild
    environment = {name: value for name, value in lake.environment.items() if name != "LAKE_DATABASES_DIR"}
    for words in (["rebuild", "--yes", "--json"], ["streamer", "run", "moma.artists", "--once"]):
        command = [sys.executable, "-m", "lake.cli.main", *words]
        done = subprocess.run(command, env=environment, cwd=PROJECT, capture_output=True, text=True, timeout=HANG_S)
        assert done.returncode == 0, done.stderr
    assert live.decisions(lake.home, allowed=False) <= {NOT_NEEDED}
    # On AWS Connect creates the topics of tables, as above; here `lake apply` does.
    databases = load_databases(PROJECT)
    topics = [*rendering.table_topics(databases), *(one.heartbeat_topic for one in databases)]
    created = {(iam.CONNECT, "kafka-cluster:CreateTopic", f"topic/{topic}") for topic in topics}
    found = sorted(calls(lake) | quarantine | created)
    if os.environ.get("LAKE_RECORD"):
        RECORDED.write_text("[\n" + ",\n".join(json.dumps(one) for one in found) + "\n]\n")
    assert [list(one) for one in found] == json.loads(RECORDED.read_text())
