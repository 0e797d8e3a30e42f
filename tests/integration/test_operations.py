"""Operations on a local lake: one writer per table, jobs, connectors, topics; and from nothing to nothing."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from lake.local import processes
from lake.local.home import PROJECT
from lake.local.stream import Stream
from lake.spark import spark_environment
from tests.running_lake import RunningLake

pytestmark = pytest.mark.integration
REFUSED_WITHIN_S = 120
REBUILT_WITHIN_S = 180  # warm, as the README says
SEED = 7
NAME, ROWS = "works", 20


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
    home = works.home
    command = Stream(home).program().command
    keys = {"AWS_ACCESS_KEY_ID": home.secrets.s3_access_key, "AWS_SECRET_ACCESS_KEY": home.secrets.s3_secret_key}
    done = subprocess.run(
        command,
        env=spark_environment(home.environment, keys),
        capture_output=True,
        text=True,
        timeout=REFUSED_WITHIN_S,
    )
    assert done.returncode == 1
    said = done.stdout  # spark-submit puts what Python says there, its errors too
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


@pytest.fixture
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLake]:
    running = RunningLake(tmp_path_factory.mktemp("rebuilt") / "lake", 28200)
    try:
        yield running
    finally:
        running.run("teardown", "--yes")


@pytest.mark.slow
def test_from_nothing_to_nothing_whatever_interrupts_it(own: RunningLake) -> None:
    """Twice killed on the way; the third rebuild ends with the proof, in the time that the README names."""
    own.databases.parent.mkdir(parents=True, exist_ok=True)
    environment = {name: value for name, value in own.environment.items() if name != "LAKE_DATABASES_DIR"}
    command = [sys.executable, "-m", "lake.cli", "rebuild", "--yes", "--json"]
    for seconds in (random.Random(SEED).uniform(1, 8), random.Random(SEED + 1).uniform(10, 40)):
        killed = subprocess.Popen(command, env=environment, cwd=PROJECT, stdout=-3, stderr=-3, start_new_session=True)
        time.sleep(seconds)
        os.killpg(killed.pid, signal.SIGKILL)
        killed.wait()
    done = subprocess.run(command, env=environment, cwd=PROJECT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["equal"] is True
    began = time.monotonic()
    again = subprocess.run(command, env=environment, cwd=PROJECT, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert time.monotonic() - began < REBUILT_WITHIN_S
    torn = own.run("teardown", "--yes", "--json")
    assert json.loads(torn.stdout) == []
    assert not own.data.exists() and processes.of_lake(own.data) == []
