"""Login by user name and password as the chart of Connect has it, and the rights that it gives, at a real broker."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from lake.aws.environment import load_aws_environment
from lake.aws.rendering import rights_of_users
from lake.clients.kafka_users import Users, bindings
from lake.config import secrets
from lake.config.definition import Database, load_databases
from lake.config.environment import PROJECT, Environment
from lake.config.environment import Kafka as EnvironmentKafka
from lake.local import scram
from lake.local.kafka import Kafka
from lake.rendering.kafka_acls import Acl
from tests.charts.rendering import only, rendered
from tests.charts.test_worker import SCENARIOS, options, settings
from tests.clocks import HANG_S, until

pytestmark = [pytest.mark.integration, pytest.mark.slow]
PORTS = 28400
USER, PASSWORD = "connect", 'of a "test"\\ only'
READ = "${directory:/run/lake/kafka:jaas}"  # the worker reads it before a client sees it: tests/charts/test_worker.py
JARS = f"{PROJECT}/build/kafka/*"
CLIENTS = ["", "producer.", "consumer.", "admin."]


@dataclass(frozen=True)
class Broker:
    """One that runs. plain: where everything is allowed. certificate: which clients trust."""

    address: str
    plain: str
    certificate: Path


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    folder = tmp_path_factory.mktemp("scram")
    login = EnvironmentKafka(auth="scram")
    home = Environment(name="local", root=PROJECT, data_dir=str(folder / "lake"), port_base=PORTS, kafka=login)
    secrets.load_or_create(home.secrets_path)
    scram.establish(home)
    kafka = Kafka(home)
    kafka.prepare()
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(kafka.program().command, stdout=log, stderr=log, cwd=home.data)
    try:
        until(kafka.ready, "the broker does not answer")
        Users(home.kafka_bootstrap).admit({USER: PASSWORD})
        yield Broker(home.kafka_login, home.kafka_bootstrap, home.scram / "broker.pem")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(HANG_S)


def attempt(broker: Broker, client: str, password: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Kafka's own command line with the settings of one client of the worker, and its secret as its pod has it."""
    for name, login in {"kafka": (USER, password), "rest": ("operator", "o")}.items():
        (folder / name).mkdir()
        (folder / name / "secret.json").write_text(json.dumps(dict(zip(("username", "password"), login, strict=True))))
    files = PROJECT / "helm/kafka-connect/files"
    subprocess.run([sys.executable, str(files / "write_credentials.py"), str(folder)], check=True)
    jaas = (folder / "kafka/jaas").read_text().replace("\\", "\\\\")  # a backslash of a file of properties
    (folder / "client.properties").write_text(properties(client, broker).replace(READ, jaas))
    tool = ["java", *options("scram"), "-cp", JARS, "org.apache.kafka.tools.TopicCommand"]
    wish = ["--bootstrap-server", broker.address, "--command-config", str(folder / "client.properties"), "--list"]
    return subprocess.run([*tool, *wish], capture_output=True, text=True, timeout=HANG_S)


def properties(client: str, broker: Broker) -> str:
    """The login of the client, as the worker has it, and what MSK's public authority makes needless: whom to trust."""
    worker = settings("scram")
    login = {key.removeprefix(client): value for key, value in worker.items() if key.startswith(f"{client}sa")}
    trust = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(broker.certificate)}
    found = {**login, "security.protocol": worker[f"{client}security.protocol"], **trust}
    return "".join(f"{key}={value}\n" for key, value in found.items())


@pytest.mark.parametrize("client", CLIENTS)
def test_each_client_of_the_worker_logs_in(broker: Broker, client: str, tmp_path: Path) -> None:
    done = attempt(broker, client, PASSWORD, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_wrong_password_does_not_get_in(broker: Broker, tmp_path: Path) -> None:
    done = attempt(broker, "", "another", tmp_path)
    assert done.returncode != 0 and "SaslAuthenticationException" in done.stdout + done.stderr
    assert "another" not in done.stdout + done.stderr


def test_the_users_have_the_rights_of_the_chart_and_no_others(broker: Broker, tmp_path: Path) -> None:
    """By the program of its Job, here as a client that may do everything; with a database, and without one."""
    others = bindings(Acl("somebody", "topic", "a topic", ("READ",)))
    Users(broker.plain).grant([Acl("somebody", "topic", "a topic", ("READ",))])
    shop = Database.model_validate({"database": "shop", "tables": {"public.sale": {"key": ["id"]}}})
    for databases in ([*load_databases(PROJECT), shop], load_databases(PROJECT)):
        wanted = rights_of_users(databases, load_aws_environment(PROJECT, "dev"))
        grant(broker, wanted, tmp_path)
        assert granted(broker) == {one for right in wanted for acl in as_acls(right) for one in bindings(acl)} | {
            *others
        }


def grant(broker: Broker, rights: list[dict[str, Any]], folder: Path) -> None:
    written = rendered(SCENARIOS["scram"], {"rights": {"granted": rights}})
    for name, text in only(written, "ConfigMap", "-rights")["data"].items():
        (folder / name).write_text(text)
    tool = folder / "kafka-acls.sh"
    tool.write_text(f"#!/bin/sh\nexec java -cp '{JARS}' org.apache.kafka.tools.AclCommand \"$@\"\n")
    tool.chmod(0o755)
    (folder / "client.properties").write_text("")
    words = [str(tool), broker.plain, *(str(folder / name) for name in ("client.properties", "rights"))]
    program = ["bash", str(folder / "grant_rights.sh"), *words]
    done = subprocess.run(program, capture_output=True, text=True, timeout=HANG_S)
    assert done.returncode == 0, done.stdout + done.stderr


def as_acls(right: dict[str, Any]) -> list[Acl]:
    spelt = {name.title().replace("_", ""): name for name in AclOperation.__members__}
    operations = tuple(spelt[one] for one in right["operations"])
    return [Acl(right["user"], right["kind"], name, operations, right["prefixed"]) for name in right["names"]]


def granted(broker: Broker) -> set[AclBinding]:
    every: Any = None
    wish = AclBindingFilter(
        *(ResourceType.ANY, every, ResourcePatternType.ANY, every, every), AclOperation.ANY, AclPermissionType.ANY
    )
    client = AdminClient({"bootstrap.servers": broker.plain})
    return set(client.describe_acls(wish).result(HANG_S))
