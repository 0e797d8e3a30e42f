"""Those who should not: each is refused, and what runs does not notice (row 34)."""

import json
from pathlib import Path
from typing import Any

import boto3
import botocore.exceptions
import httpx
import psutil
import psycopg
import pytest

from lake.local.processes import of_lake
from tests.faults.rig import Rig
from tests.faults.trial import Entry
from tests.faults.workload import until

pytestmark = pytest.mark.faults
JNDI = "com.sun.security.auth.module.JndiLoginModule required user.provider.url='ldap://127.0.0.1:1/x';"
TOLD_WITHIN_S = 30.0


def put(rig: Rig, shop: str, name: str, **change: str) -> httpx.Response:
    """Puts a copy of the connector with other settings, under a name of its own."""
    connectors = f"{rig.home.connect}/connectors"
    config = httpx.get(f"{connectors}/{rig.connector(shop)}/config", trust_env=False).json()
    body = {**config, **change, "name": name, "slot.name": name}
    return httpx.put(f"{connectors}/{name}/config", json=body, trust_env=False, timeout=60)


def status(rig: Rig, name: str) -> Any:
    return httpx.get(f"{rig.home.connect}/connectors/{name}/status", trust_env=False).json()


def delete(rig: Rig, name: str) -> None:
    httpx.delete(f"{rig.home.connect}/connectors/{name}", trust_env=False, timeout=60)


@pytest.mark.matrix("34", "a connector that reads a file of the machine")
def test_file(rig: Rig, entry: Entry, shop: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.properties"
    secret.write_text("word=canary-7f3a\n")
    try:
        answer = put(rig, shop, "intruder", **{"database.user": f"${{file:{secret}:word}}"})
        if answer.is_success:
            until(lambda: "FAILED" in json.dumps(status(rig, "intruder")), "it runs", TOLD_WITHIN_S)
        log = (rig.home.logs / "connect.log").read_text(errors="replace")
        assert "canary-7f3a" not in log + answer.text + json.dumps(status(rig, "intruder"))
    finally:
        delete(rig, "intruder")


@pytest.mark.matrix("34", "a connector that loads a class by JNDI")
def test_jndi(rig: Rig, entry: Entry, shop: str) -> None:
    settings = {"producer.override.security.protocol": "SASL_PLAINTEXT", "producer.override.sasl.jaas.config": JNDI}
    try:
        answer = put(rig, shop, "intruder", **settings)
        refused = answer.status_code >= 400
        assert refused or until(lambda: "FAILED" in json.dumps(status(rig, "intruder")), "it runs", TOLD_WITHIN_S) >= 0
    finally:
        delete(rig, "intruder")


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="connector.client.config.override.policy is All")
@pytest.mark.matrix("34", "a connector that brings its own Kafka broker")
def test_override(rig: Rig, entry: Entry, shop: str) -> None:
    try:
        assert put(rig, shop, "intruder", **{"producer.override.bootstrap.servers": "127.0.0.1:1"}).status_code >= 400
    finally:
        delete(rig, "intruder")


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="the local registry asks nobody who he is")
@pytest.mark.matrix("34", "a schema written without a role")
def test_registry(rig: Rig, entry: Entry) -> None:
    address = f"{rig.home.registry}/apis/ccompat/v7/subjects/intruder/versions"
    answer = httpx.post(address, json={"schema": '"string"'}, trust_env=False)
    assert answer.status_code in (401, 403)


@pytest.mark.matrix("34", "the object store with wrong keys")
def test_store(rig: Rig, entry: Entry) -> None:
    keys = {"aws_access_key_id": rig.home.secrets.s3_access_key, "aws_secret_access_key": "wrong"}
    client = boto3.client("s3", endpoint_url=rig.home.s3, region_name="us-east-1", **keys)
    with pytest.raises(botocore.exceptions.ClientError):
        client.list_objects_v2(Bucket=rig.home.bucket)


@pytest.mark.matrix("34", "the capture user writes and reads what is not captured")
def test_capture_user(rig: Rig, entry: Entry, shop: str) -> None:
    secret = rig.home.secrets.lake_capture
    dsn = psycopg.conninfo.make_conninfo(rig.home.dsn(shop), user="lake_capture", password=secret)
    for statement in ("DELETE FROM account", "SELECT * FROM audit.version", "CREATE TABLE mine (id int)"):
        with psycopg.connect(dsn) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
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
