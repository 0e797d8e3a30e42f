"""The local services survive what happens to processes: restarts, kills, neighbours."""

import os
import signal
import time
from collections.abc import Iterator

import httpx
import psutil
import psycopg
import pytest

from lake.local import processes
from lake.local.preflight import free
from lake.local.stack import Stack
from lake.rendering.connector import REGISTRY_WRITER
from tests.clocks import HANG_S
from tests.running_lake import RunningLake

pytestmark = pytest.mark.integration
SERVICES = ["postgres", "kafka", "connect", "metastore", "registry", "s3"]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLake]:
    """A lake of this file's own: its processes are killed. Its folder's name has a space, as a user's may have."""
    running = RunningLake(tmp_path_factory.mktemp("own lake"), 28100)
    try:
        running.run("up")
        yield running
    finally:
        running.remove()


def wait_for_running(lake: RunningLake, name: str, other_than: int) -> None:
    end = time.monotonic() + HANG_S
    while time.monotonic() < end:
        line = lake.services()[name]
        if line["state"] == "running" and line["pid"] != other_than:
            return
    pytest.fail(f"{name} is not back: {lake.services()[name]}")


def kill_everything(lake: RunningLake) -> int:
    found = processes.of_lake(lake.data)
    for process in sorted(found, key=lambda item: "supervisor.supervisord" not in item.cmdline()):
        if process.is_running():
            process.kill()
    psutil.wait_procs(found, timeout=10)
    return len(found)


def add_schema(lake: RunningLake, subject: str) -> int:
    url = f"{lake.home.registry}/apis/ccompat/v7/subjects/{subject}/versions"
    login = REGISTRY_WRITER, lake.home.secrets.registry_writer
    schema = f'{{"type": "record", "name": "{subject}", "fields": [{{"name": "a", "type": "int"}}]}}'
    answer = httpx.post(url, json={"schema": schema}, auth=login, trust_env=False).raise_for_status()
    return int(answer.json()["id"])


def test_up_runs_every_service(own: RunningLake) -> None:
    lines = own.services()
    assert {name: lines[name]["state"] for name in SERVICES} == dict.fromkeys(SERVICES, "running")
    assert lines["stream"]["state"] == "waiting"
    assert all(lines[name]["rss_bytes"] > 10_000_000 for name in SERVICES)


def test_up_again_says_so(own: RunningLake) -> None:
    assert "already up" in own.run("up").stdout


def test_nothing_listens_beyond_loopback(own: RunningLake) -> None:
    pids = {process.pid for process in processes.of_lake(own.data)}
    listening = [
        item for item in psutil.net_connections("inet") if item.pid in pids and item.status == psutil.CONN_LISTEN
    ]
    assert len(listening) >= 8
    assert {item.laddr.ip.removeprefix("::ffff:") for item in listening} == {"127.0.0.1"}


def test_no_secret_in_arguments_logs_or_open_files(own: RunningLake) -> None:
    secrets = vars(own.home.secrets).values()
    seen = " ".join(" ".join(process.cmdline()) for process in processes.of_lake(own.data))
    seen += " ".join(path.read_text(errors="replace") for path in (own.data / "logs").iterdir())
    seen += " ".join(path.read_text() for path in own.home.rendered.rglob("*") if path.is_file())
    assert [name for name in secrets if name in seen] == []
    assert (own.data / "secrets.json").stat().st_mode & 0o777 == 0o600


def test_a_service_inherits_its_own_secrets_alone(own: RunningLake) -> None:
    stack, secrets = Stack(own.home), set(vars(own.home.secrets).values())
    for service in stack.services:
        if service.wanted():
            inherited = psutil.Process(stack.supervisors[service.name].state().pid).environ().values()
            assert secrets & set(inherited) == set(service.secrets().values())


def test_endpoints_reach_the_services(own: RunningLake) -> None:
    found = own.json("endpoints")
    with psycopg.connect(found["postgres"]["dsn"]) as connection:
        assert connection.execute("SHOW wal_level").fetchone() == ("logical",)
    connectors, login = (
        found["connect"]["url"] + "/connectors",
        (found["connect"]["user"], found["connect"]["password"]),
    )
    assert httpx.get(connectors, trust_env=False).status_code == 401
    assert httpx.get(connectors, auth=login, trust_env=False).json() == []
    assert sorted(found["s3"]) == ["access_key", "bucket", "endpoint", "secret_key"]
    assert found["metastore"]["uri"] == "thrift://127.0.0.1:28107"
    assert found["kafka"]["bootstrap"] == "127.0.0.1:28101"


@pytest.mark.parametrize("name", ["kafka", "s3", "postgres", "metastore"])
def test_what_dies_is_restarted(own: RunningLake, name: str) -> None:
    pid = own.services()[name]["pid"]
    os.kill(pid, signal.SIGKILL)
    wait_for_running(own, name, other_than=pid)


def test_who_runs_and_does_not_answer_is_named(own: RunningLake) -> None:
    process = psutil.Process(own.services()["s3"]["pid"])
    process.suspend()
    try:
        status = own.run("status", check=False)
        assert (status.returncode, own.services()["s3"]["state"]) == (1, "silent")
        assert "does not answer; see: lake logs s3" in " ".join(status.stdout.split())
    finally:
        process.resume()


def test_restart_touches_one_service(own: RunningLake) -> None:
    before = own.services()
    own.run("restart", "registry")
    after = own.services()
    assert after["registry"]["pid"] != before["registry"]["pid"]
    assert {name: after[name]["pid"] for name in ("kafka", "s3")} == {
        name: before[name]["pid"] for name in ("kafka", "s3")
    }


def test_registry_keeps_ids_over_a_restart(own: RunningLake) -> None:
    ids = [add_schema(own, "first"), add_schema(own, "second")]
    own.run("restart", "registry")
    assert [add_schema(own, "first"), add_schema(own, "second")] == ids
    assert add_schema(own, "third") > max(ids)


def test_killed_supervisor_is_told_and_healed(own: RunningLake) -> None:
    before = own.services()
    supervisor = psutil.Process(Stack(own.home).supervisors["kafka"].pid())
    supervisor.kill()
    psutil.wait_procs([supervisor], timeout=10)
    status = own.run("status", check=False)
    assert status.returncode == 1
    assert "its supervisor has ended" in " ".join(status.stdout.split())
    assert {name for name, line in own.services().items() if line["state"] == "orphaned"} == {"kafka"}
    assert "stopped what was left" in " ".join(own.run("up").stdout.split())
    changed = {name for name, line in own.services().items() if line["pid"] != before[name]["pid"]}
    assert changed == {"kafka"}


def test_up_continues_after_everything_was_killed(own: RunningLake) -> None:
    with psycopg.connect(own.home.dsn(), autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS a")
    schema = add_schema(own, "kept")
    assert kill_everything(own) > len(SERVICES)
    said = " ".join(own.run("up").stdout.split())
    assert "removed postmaster.pid of a killed server" in said
    assert "the broker was killed" in said
    with psycopg.connect(own.home.dsn()) as connection:
        assert connection.execute("SELECT a FROM kept").fetchone() == (42,)
    assert add_schema(own, "kept") == schema


def test_two_lakes_run_side_by_side(own: RunningLake, lake: RunningLake) -> None:
    """The shared lake is up beside this one all the time, and knows nothing of what happened here."""
    own.execute("postgres", "CREATE TABLE beside (a int)")
    assert lake.home.dsn() != own.home.dsn()
    with psycopg.connect(lake.home.dsn()) as connection:
        assert connection.execute("SELECT to_regclass('beside')").fetchone() == (None,)
    assert own.services()["kafka"]["state"] == "running"
    assert httpx.get(lake.home.connect, trust_env=False, auth=lake.home.connect_login).is_success


def test_load_moma_twice(own: RunningLake) -> None:
    own.run("load", "moma")
    assert "artists: 0 rows added, 15089 in all" in own.run("load", "moma").stdout
    with psycopg.connect(own.home.dsn("moma")) as connection:
        assert connection.execute("SELECT count(*) FROM artworks").fetchone() == (5001,)
        name = connection.execute("SELECT name FROM artists WHERE artist_id = 27624").fetchone()
        title = connection.execute("SELECT title FROM artworks WHERE artwork_id = 128447").fetchone()
    assert name == ("Eve Sussman | Rufus Corporation",)
    assert title == ("Picador (La Pique)",)


def test_down_leaves_no_process_and_up_finds_all_data(own: RunningLake) -> None:
    own.run("down")
    assert processes.of_lake(own.data) == []
    assert all(free(port) for port in range(28100, 28108))
    assert "not up" in own.run("down").stdout
    said = own.run("up").stdout
    assert "removed" not in said
    assert "killed" not in said
    with psycopg.connect(own.home.dsn()) as connection:
        assert connection.execute("SELECT a FROM kept").fetchone() == (42,)
