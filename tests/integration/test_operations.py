"""Operations on a local lake: one writer per table, jobs, connectors, topics; and from nothing to nothing."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from lake.config.environment import PROJECT
from lake.config.lock import is_locked
from lake.local import processes
from lake.local.spark_submit import spark_environment, spark_submit_command
from lake.local.stack import Stack
from lake.samples import moma
from tests.clocks import HANG_S, until
from tests.running_lake import RunningLake

pytestmark = pytest.mark.integration
SEED = 7
NAME, ROWS = "works", 20
LOADED = "loaded"


@pytest.fixture(scope="module")
def works(lake: RunningLake) -> Iterator[RunningLake]:
    """The shared lake with a small database of its own."""
    lake.execute("postgres", f"CREATE DATABASE {NAME}")
    lake.execute(
        NAME,
        "CREATE TABLE pieces (id int PRIMARY KEY, name text)",
        f"INSERT INTO pieces SELECT i, 'piece ' || i FROM generate_series(1, {ROWS}) i",
    )
    lake.define(NAME, {"public.pieces": {"key": ["id"]}})
    lake.apply()
    lake.drain(NAME)
    yield lake
    lake.forget(NAME)


def test_a_second_job_on_the_same_tables_is_refused(works: RunningLake) -> None:
    """The very command of the first; it writes nothing and says who writes."""
    done = works.second_job()
    assert done.returncode == 1
    said = done.stdout
    assert "refused: s3a://lake/silver/" in said and "is written by stream local-" in said
    assert works.services()["stream"]["state"] == "running"


def test_the_job_is_listed_stopped_and_goes_on(works: RunningLake) -> None:
    (job,) = works.json("jobs", "list")
    assert (job["name"], job["state"]) == ("stream", "running")
    (stopped,) = works.json("jobs", "stop", "stream")
    assert stopped["state"] == "stopped"
    assert works.run("jobs", "status", "stream", check=False).returncode == 1
    (again,) = works.json("jobs", "submit", "stream")
    assert again["state"] in ("running", "starting")
    assert works.run("jobs", "logs", "stream", "-n", "20").stdout.strip()


def test_a_killed_supervisor_costs_its_service_alone(works: RunningLake) -> None:
    """The guardian starts it again, and nothing that was stopped, or is restarted, by hand."""
    works.run("jobs", "stop", "stream")
    before = works.services()
    supervisor = Stack(works.home).supervisors["s3"]
    killed = supervisor.pid()
    assert killed
    os.kill(killed, signal.SIGKILL)

    def is_back() -> bool:
        started = supervisor.pid() not in (None, killed) and works.services()["s3"]["state"] == "running"
        return started and not is_locked(works.home.lock)

    try:
        until(is_back, "s3 is not back")
        works.run("restart", "registry")
        after = works.services()
        assert {name for name, line in after.items() if line["pid"] != before[name]["pid"]} == {"s3", "registry"}
        assert after["stream"]["state"] == "stopped"
    finally:
        works.run("jobs", "submit", "stream")


def test_topics_hold_what_was_read(works: RunningLake) -> None:
    topics = {one["topic"]: one for one in works.json("topics")}
    assert topics[f"{NAME}.public.pieces"]["messages"] == ROWS
    assert topics[f"{NAME}.public.pieces"]["partitions"] == 1


def test_connectors_are_paused_changed_and_put_right(works: RunningLake) -> None:
    assert works.json("connectors", "plan", NAME) == []
    works.run("connectors", "pause", NAME)
    wait_for_state(works, "PAUSED")
    works.run("connectors", "resume", NAME)
    wait_for_state(works, "RUNNING")
    works.run("connectors", "restart", NAME)
    wait_for_state(works, "RUNNING")


def wait_for_state(lake: RunningLake, state: str) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        status = lake.json("connectors", "status", NAME)[f"source_postgres_{NAME}"]
        if {part["state"] for part in (status["connector"], *status["tasks"])} == {state}:
            return
    pytest.fail(f"not {state}: {status}")


def test_sample_rows_are_loaded_from_inside(works: RunningLake, tmp_path: Path) -> None:
    """The job of `lake rebuild` on AWS, with its jars by --jars as there; a second load adds nothing."""
    data = PROJECT / "data/moma"
    works.execute("postgres", f"CREATE DATABASE {LOADED}")
    login = conninfo_to_dict(works.home.dsn(LOADED))
    output = tmp_path / "result.json"
    arguments = [
        *("--jdbc-url", f"jdbc:postgresql://{login['host']}:{login['port']}/{LOADED}", "--user", str(login["user"])),
        *("--schema", (data / "schema.sql").as_uri(), "--output", output.as_uri()),
        *(word for table, name in moma.FILES.items() for word in ("--table", f"{table}={(data / name).as_uri()}")),
    ]
    jars = ",".join(str(jar) for jar in sorted((works.home.spark_build / "spark").glob("*.jar")))
    conf = {"spark.driver.extraClassPath": str(tmp_path), "spark.jars": jars}
    command = spark_submit_command(works.home, "load", arguments, conf)
    environment = spark_environment(works.home, {"LAKE_LOAD_PASSWORD": str(login["password"])})
    added = []
    for _ in range(2):
        subprocess.run(command, env=environment, check=True, capture_output=True, timeout=HANG_S)
        added.append(json.loads(output.read_text())["added"])
    works.execute("postgres", f"DROP DATABASE {LOADED}")
    rows = {"artists": 15_089, "artworks": 5_000, "departments": 8}
    assert added == [rows, dict.fromkeys(rows, 0)]


@pytest.fixture
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLake]:
    running = RunningLake(tmp_path_factory.mktemp("rebuilt") / "lake", 28200)
    try:
        yield running
    finally:
        running.run("teardown", "--yes")


@pytest.mark.slow
def test_from_nothing_to_nothing_whatever_interrupts_it(own: RunningLake) -> None:
    """Twice killed on the way; the third rebuild ends with the proof, and a teardown leaves nothing."""
    own.databases.parent.mkdir(parents=True, exist_ok=True)
    environment = {name: value for name, value in own.environment.items() if name != "LAKE_DATABASES_DIR"}
    command = [sys.executable, "-m", "lake.cli.main", "rebuild", "--yes", "--json"]
    for seconds in (random.Random(SEED).uniform(1, 8), random.Random(SEED + 1).uniform(10, 40)):
        killed = subprocess.Popen(command, env=environment, cwd=PROJECT, stdout=-3, stderr=-3, start_new_session=True)
        time.sleep(seconds)
        os.killpg(killed.pid, signal.SIGKILL)
        killed.wait()
    done = subprocess.run(command, env=environment, cwd=PROJECT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["equal"] is True
    torn = own.run("teardown", "--yes", "--json")
    assert json.loads(torn.stdout) == []
    assert not own.data.exists() and processes.of_lake(own.data) == []
