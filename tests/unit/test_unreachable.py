"""Services that do not answer, or refuse: one line says which, where and what now."""

import json
import socket
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import psycopg
import pytest

from lake.clients import kafka
from lake.clients.connect import Connect
from lake.clients.kafka import Broker
from lake.config.environment import PROJECT, Environment, load_environment
from lake.config.errors import BadInput, LakeError
from lake.config.secrets import Secrets, load_or_create
from lake.deployments.local_jobs import LocalJobs
from lake.local import status
from lake.local.postgres import Postgres
from lake.local.stack import Stack
from lake.local.status import ServiceStatus, refuse_stopped
from lake.rendering.topics import Topic
from lake.samples import moma
from lake.samples.catalog import SAMPLES
from lake.samples.loading import Report, silent
from tests.unit.refused import Capture, Case, assert_refused, lay_out

SECRETS = {one.name: "x" for one in fields(Secrets)}


def test_postgres_unreachable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    lay_out(tmp_path, Case("", [], local=f"name: local\nport_base: {closed_port()}\n"))
    folder = tmp_path / ".lake"
    folder.mkdir()
    (folder / "secrets.json").write_text(json.dumps(SECRETS))
    assert_refused(tmp_path, ["PostgreSQL does not answer", "127.0.0.1:", "run: lake up"], monkeypatch, capsys)


REFUSALS = [
    ('FATAL:  password authentication failed for user "postgres"', ["refuses the password", "secrets.json", "restore"]),
    ('FATAL:  database "shop" does not exist', ["there is no database 'shop'", "databases/shop.yaml"]),
    ("connection refused\n\tIs the server running on that host?", ["PostgreSQL does not answer", "run: lake up"]),
]


@pytest.mark.parametrize(("text", "says"), REFUSALS)
def test_postgres_refuses(
    text: str, says: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    refusing(text, tmp_path, monkeypatch)
    assert_refused(tmp_path, says, monkeypatch, capsys)


@pytest.mark.parametrize("load", SAMPLES.values())
@pytest.mark.parametrize(("text", "says"), REFUSALS[::2])
def test_postgres_refuses_what_would_be_loaded(
    load: Callable[[Environment, Report], object],
    text: str,
    says: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refusing(text, tmp_path, monkeypatch)
    (tmp_path / "data").symlink_to(PROJECT / "data")
    with pytest.raises(BadInput) as refused:
        load(load_environment(root=tmp_path), silent)
    for words in says:
        assert words in str(refused.value)


def test_a_service_does_not_wait_for_a_password_to_become_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing(REFUSALS[0][0], tmp_path, monkeypatch)
    with pytest.raises(LakeError, match=r"refuses the password of this lake; .*secrets.json; restore"):
        Postgres(load_environment(root=tmp_path)).ready()
    refusing(REFUSALS[2][0], tmp_path, monkeypatch)
    assert not Postgres(load_environment(root=tmp_path)).ready()


def refusing(text: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lake whose PostgreSQL answers so to every login."""

    def connect(*_: object, **__: object) -> None:
        raise psycopg.OperationalError(f'connection failed: connection to server at "127.0.0.1", port 1 failed: {text}')

    if not (root / "databases").exists():
        lay_out(root, Case("", []))
        (root / ".lake").mkdir()
        (root / ".lake" / "secrets.json").write_text(json.dumps(SECRETS))
    monkeypatch.setattr(psycopg, "connect", connect)


def test_a_lake_that_was_never_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    lay_out(tmp_path, Case("", []))
    assert_refused(tmp_path, ["never started", "secrets.json", "run: lake up"], monkeypatch, capsys)
    (tmp_path / "data").symlink_to(PROJECT / "data")
    with pytest.raises(BadInput, match="never started"):
        moma.load(load_environment(root=tmp_path))


@pytest.mark.parametrize(
    "ask",
    [refuse_stopped, lambda home: Stack(home).restart("kafka"), lambda home: LocalJobs(home).submit("stream", print)],
    ids=["a request", "restart", "jobs submit"],
)
def test_a_lake_that_is_down(ask: Callable[[Environment], object], tmp_path: Path) -> None:
    lay_out(tmp_path, Case("", []))
    with pytest.raises(BadInput, match=r"does not run; .*; run: lake up"):
        ask(load_environment(root=tmp_path))


@pytest.mark.parametrize("state", ["orphaned", "down"])
def test_a_job_without_its_supervisor_is_not_called_stopped(
    state: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lay_out(tmp_path, Case("", []))
    jobs = LocalJobs(load_environment(root=tmp_path))
    monkeypatch.setattr(status, "services", lambda _: [ServiceStatus("stream", state, 0, 0, 0)])
    if state == "down":
        assert jobs.stop("stream", print).state == "stopped"
        return
    with pytest.raises(LakeError, match="without its supervisor"):
        jobs.stop("stream", print)


def test_kafka_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka, "TIMEOUT_S", 0.5)
    with pytest.raises(BadInput, match=r"Kafka does not answer; broker at 127.0.0.1:.*; run: lake up"):
        Broker(f"127.0.0.1:{closed_port()}").topics([Topic("a", 1, 1)])


def test_connect_unreachable(tmp_path: Path) -> None:
    home = Environment(name="local", root=tmp_path, port_base=closed_port() - 2)
    load_or_create(home.secrets_path)
    with pytest.raises(BadInput, match=r"Kafka Connect does not answer; http://127.0.0.1:.*; run: lake up"):
        Connect(home).config("a")


def closed_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
