"""Those who should not: each is refused, and what runs does not notice (row 34)."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import boto3
import botocore.exceptions
import httpx
import psutil
import psycopg
import pytest

from lake.local.processes import of_lake
from tests import remains
from tests.faults.rig import Rig
from tests.faults.trial import Entry
from tests.faults.workload import until

pytestmark = pytest.mark.faults
TOLD_WITHIN_S = 30.0
DENIED = 'result="failure" src_ip="127.0.0.1"'


def put(rig: Rig, shop: str, name: str, **change: str) -> httpx.Response:
    """Puts a copy of the connector with other settings, under a name of its own."""
    connectors = f"{rig.home.connect}/connectors"
    login = rig.home.connect_login
    config = httpx.get(f"{connectors}/{rig.connector(shop)}/config", trust_env=False, auth=login).json()
    body = {**config, **change, "name": name, "slot.name": name}
    return httpx.put(f"{connectors}/{name}/config", json=body, trust_env=False, auth=login, timeout=60)


def status(rig: Rig, name: str) -> Any:
    return httpx.get(
        f"{rig.home.connect}/connectors/{name}/status", trust_env=False, auth=rig.home.connect_login
    ).json()


def delete(rig: Rig, name: str) -> None:
    httpx.delete(f"{rig.home.connect}/connectors/{name}", trust_env=False, auth=rig.home.connect_login, timeout=60)
    remains.drop_slot(rig.home, name)


@pytest.mark.matrix("34", "a connector that reads a file of the machine")
def test_file(rig: Rig, entry: Entry, shop: str, tmp_path: Path) -> None:
    """As the name of a user it would be told by PostgreSQL: a file of the one folder that is allowed is."""
    allowed, secret = rig.home.data / "secrets" / "planted.properties", tmp_path / "secret.properties"
    try:
        for path, word in ((allowed, "canary-5b2d"), (secret, "canary-7f3a")):
            path.write_text(f"word={word}\n")
            answer = put(rig, shop, "intruder", **{"database.user": f"${{file:{path}:word}}"})
            assert answer.status_code == 400, answer.text
            told = "".join(log.read_text(errors="replace") for log in rig.home.logs.glob("*.log"))
            assert (word in told + answer.text) == (path == allowed), f"{path}: {answer.text}"
    finally:
        allowed.unlink(missing_ok=True)
        delete(rig, "intruder")


@pytest.mark.matrix("34", "a connector that loads a class by JNDI: ")
@pytest.mark.parametrize("module", ["JndiLoginModule", "LdapLoginModule"])
@pytest.mark.parametrize("client", ["producer.override", "signal.consumer"])
def test_jndi(rig: Rig, entry: Entry, shop: str, client: str, module: str) -> None:
    """The first is refused with the setting; the second is Debezium's own client, whose login Kafka refuses."""
    with listening() as (port, visitors):
        login = {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.jaas.config": jndi(module, port),
        }
        settings = {f"{client}.{name}": value for name, value in login.items()}
        if client == "signal.consumer":
            settings["signal.enabled.channels"] = "source,kafka"
            settings["signal.kafka.topic"] = "intruder"
            settings["signal.kafka.bootstrap.servers"] = rig.home.kafka_bootstrap
        try:
            answer = put(rig, shop, "intruder", **settings)
            if client == "producer.override":
                assert answer.status_code == 400 and "does not allow" in answer.text, answer.text
            else:
                refused = f"{module} is not allowed"
                until(lambda: refused in json.dumps(status(rig, "intruder")), "it is not refused", TOLD_WITHIN_S)
        finally:
            delete(rig, "intruder")
        assert visitors == [], "somebody asked the directory of the intruder"


def jndi(module: str, port: int) -> str:
    """How either module is told where to ask."""
    directory = f"'ldap://127.0.0.1:{port}/x'"
    options = "userProvider" if module == "LdapLoginModule" else "user.provider.url"
    more = "" if module == "LdapLoginModule" else f" group.provider.url={directory}"
    return f"com.sun.security.auth.module.{module} required {options}={directory}{more};"


@contextmanager
def logged(rig: Rig, service: str, what: str) -> Iterator[None]:
    """The service must write a line with these words meanwhile."""
    path = rig.home.logs / f"{service}.log"
    before = path.read_text(errors="replace").count(what)
    yield
    until(lambda: path.read_text(errors="replace").count(what) > before, f"{service} logs nothing of it", TOLD_WITHIN_S)


@contextmanager
def listening() -> Iterator[tuple[int, list[Any]]]:
    """A port, and who came to it."""
    visitors: list[Any] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    visitors.append(server.accept()[1])

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1], visitors
        server.shutdown(socket.SHUT_RDWR)


@pytest.mark.matrix("34", "a connector with another Kafka broker")
def test_override(rig: Rig, entry: Entry, shop: str) -> None:
    try:
        with logged(rig, "connect", "PUT /connectors/intruder/config"):
            answer = put(rig, shop, "intruder", **{"producer.override.bootstrap.servers": "127.0.0.1:1"})
        assert answer.status_code == 400 and "bootstrap.servers" in answer.text, answer.text
    finally:
        delete(rig, "intruder")


@pytest.mark.matrix("34", "a schema written, or deleted, without a role")
@pytest.mark.parametrize("login", [None, ("connect", "wrong"), ("intruder", "intruder")], ids=str)
def test_registry(rig: Rig, entry: Entry, shop: str, login: tuple[str, str] | None) -> None:
    """The registry's audit has who gave a name; who gave none is refused without a line."""
    subjects = f"{rig.home.registry}/apis/ccompat/v7/subjects"
    paths = ("intruder/versions", f"{shop}.public.account-value") if login else ()
    with ExitStack() as audit, httpx.Client(trust_env=False, auth=login) as client:
        for path in paths:
            audit.enter_context(logged(rig, "registry", f'{DENIED} path="/apis/ccompat/v7/subjects/{path}"'))
        written = client.post(f"{subjects}/intruder/versions", json={"schema": '"string"'})
        assert written.status_code in (401, 403), written.text
        deleted = client.delete(f"{subjects}/{shop}.public.account-value")
        assert deleted.status_code in (401, 403), deleted.text
    assert f"{shop}.public.account-value" in httpx.get(subjects, trust_env=False).json()


@pytest.mark.matrix("34", "the object store with wrong keys")
def test_store(rig: Rig, entry: Entry) -> None:
    keys = {"aws_access_key_id": rig.home.secrets.s3_access_key, "aws_secret_access_key": "wrong"}
    client = boto3.client("s3", endpoint_url=rig.home.s3, region_name="us-east-1", **keys)
    with pytest.raises(botocore.exceptions.ClientError):
        client.list_objects_v2(Bucket=rig.home.bucket)


@pytest.mark.matrix("34", "the capture user writes, and reads tables that are not captured")
def test_capture_user(rig: Rig, entry: Entry, shop: str) -> None:
    secret = rig.home.secrets.lake_capture
    dsn = psycopg.conninfo.make_conninfo(rig.home.dsn(shop), user="lake_capture", password=secret)
    for statement in ("DELETE FROM account", "SELECT * FROM audit.version", "CREATE TABLE mine (id int)"):
        with (
            logged(rig, "postgres", "permission denied"),
            psycopg.connect(dsn) as connection,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            connection.execute(statement.encode())


@pytest.mark.matrix("34", "the services listen on loopback only")
def test_loopback(rig: Rig, entry: Entry) -> None:
    listening = [one.laddr.ip for process in of_lake(rig.home.data) for one in listeners(process)]
    assert len(listening) >= 7 and set(listening) <= {"127.0.0.1", "::ffff:127.0.0.1", "::1"}


def listeners(process: psutil.Process) -> list[Any]:
    try:
        return [one for one in process.net_connections("inet") if one.status == psutil.CONN_LISTEN]
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return []
