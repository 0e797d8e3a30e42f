"""Connect's login by user name and password: the settings of the chart, at a real broker that asks for it over TLS."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion

from lake.config import secrets
from lake.config.environment import LOOPBACK, PROJECT, Environment
from lake.local import java
from lake.local.kafka import Kafka
from tests.charts.test_worker import options, settings
from tests.clocks import HANG_S, until

pytestmark = [pytest.mark.integration, pytest.mark.slow]
PORTS = 28400
USER, PASSWORD = "connect", 'of a "test"\\ only'
READ = "${directory:/run/lake/kafka:jaas}"  # the worker reads it before a client sees it: tests/charts/test_worker.py
LOGIN = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
CLIENTS = ["", "producer.", "consumer.", "admin."]


class PasswordKafka(Kafka):
    """With one listener more, like that of MSK on port 9096: SCRAM-SHA-512 over TLS."""

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self.home.ports.kafka_iam}"

    def settings(self) -> dict[str, object]:
        before, listener = super().settings(), f",SCRAM://{self.address}"
        more = {name: f"{before[name]}{listener}" for name in ("listeners", "advertised.listeners")}
        protocols = "listener.security.protocol.map"
        return {
            **before,
            **more,
            protocols: f"{before[protocols]},SCRAM:SASL_SSL",
            "listener.name.scram.sasl.enabled.mechanisms": "SCRAM-SHA-512",
            "listener.name.scram.scram-sha-512.sasl.jaas.config": LOGIN,
            "listener.name.scram.ssl.keystore.type": "PKCS12",
            "listener.name.scram.ssl.keystore.location": self.home.data / "broker.p12",
            "listener.name.scram.ssl.keystore.password": "of-a-test",
        }


@dataclass(frozen=True)
class Broker:
    """One that runs. certificate: which clients trust."""

    address: str
    certificate: Path


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    folder = tmp_path_factory.mktemp("scram")
    home = Environment(name="local", root=PROJECT, data_dir=str(folder / "lake"), port_base=PORTS)
    secrets.load_or_create(home.secrets_path)
    kafka = PasswordKafka(home)
    certify(home.data)
    kafka.prepare()
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(kafka.program().command, stdout=log, stderr=log, cwd=home.data)
    try:
        until(kafka.ready, "the broker does not answer")
        admit(home.kafka_bootstrap)
        yield Broker(kafka.address, home.data / "broker.pem")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(HANG_S)


def certify(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    store = ["-alias", "broker", "-keystore", str(folder / "broker.p12"), "-storepass", "of-a-test"]
    names = ["-dname", "CN=localhost", "-ext", f"san=dns:localhost,ip:{LOOPBACK}", "-storetype", "PKCS12"]
    for words in (
        ["-genkeypair", "-keyalg", "EC", *names],
        ["-exportcert", "-rfc", "-file", str(folder / "broker.pem")],
    ):
        subprocess.run([java.jdk_tool("keytool"), *words, *store], check=True, capture_output=True)


def admit(bootstrap: str) -> None:
    """MSK keeps the users in Secrets Manager; a broker of one's own keeps them itself."""
    login = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
    wish = UserScramCredentialUpsertion(USER, login, PASSWORD.encode())
    client = AdminClient({"bootstrap.servers": bootstrap})
    client.alter_user_scram_credentials([wish])[USER].result(HANG_S)


def attempt(broker: Broker, client: str, password: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Kafka's own command line with the settings of one client of the worker, and its secret as its pod has it."""
    for name, login in {"kafka": (USER, password), "rest": ("operator", "o")}.items():
        (folder / name).mkdir()
        (folder / name / "secret.json").write_text(json.dumps(dict(zip(("username", "password"), login, strict=True))))
    files = PROJECT / "helm/kafka-connect/files"
    subprocess.run([sys.executable, str(files / "write_credentials.py"), str(folder)], check=True)
    jaas = (folder / "kafka/jaas").read_text().replace("\\", "\\\\")  # a backslash of a file of properties
    (folder / "client.properties").write_text(properties(client, broker).replace(READ, jaas))
    tool = ["java", *options("scram"), "-cp", f"{PROJECT}/build/kafka/*", "org.apache.kafka.tools.TopicCommand"]
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
