"""The hook of the chart, its own program and arguments, against the Kafka Connect of a lake."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from tenacity import retry, stop_after_delay, wait_fixed

from lake.clients.kafka import Broker
from lake.config.definition import Database
from lake.config.environment import Environment
from lake.config.report import silent
from lake.plan.apply import apply
from lake.plan.diff import changes
from lake.plan.facts import read_facts
from lake.rendering.topics import Topic, topics
from lake.sources.connector import source_connector
from lake.sources.postgres.names import slot
from tests.charts import hook
from tests.charts.rendering import Manifest, chart_of, helm, of_kind, only, parsed, scenarios
from tests.integration import readers
from tests.remains import delete_topics, drop_slot
from tests.running_lake import RunningLake

pytestmark = pytest.mark.integration
NAME = "hooked"
DATABASE = Database.model_validate({"database": NAME, "tables": {"public.a": {"key": ["id"]}}})
DECLARED = "declared_by_the_chart"
BY_LAKE = DATABASE.connector
PREFIX = f"{NAME}_chart"
SLOT = f"{slot(DATABASE)}_chart"
TOPICS = [f"{PREFIX}.public.a", f"__debezium-heartbeat.{PREFIX}"]
Settings = dict[str, str]
Apply = Callable[..., hook.Done]


@pytest.fixture(scope="module")
def home(lake: RunningLake) -> Iterator[Environment]:
    """A database that connectors can capture, and the one that the lake itself put: it has no owner."""
    home = lake.home
    lake.execute("postgres", f"CREATE DATABASE {NAME}")
    lake.execute(NAME, "CREATE TABLE a (id int PRIMARY KEY)", "INSERT INTO a VALUES (1)")
    put_by_the_lake(home)
    for name in TOPICS:
        Broker(home.kafka_bootstrap).create(Topic(name, 1, 1))
    yield home
    for name in (DECLARED, BY_LAKE):
        httpx.delete(f"{home.connect}/connectors/{name}", trust_env=False, auth=home.connect_login)
    for one in (SLOT, slot(DATABASE)):
        drop_slot(home, one)
    lake.execute("postgres", f"DROP DATABASE {NAME}")
    made = [*TOPICS, *(topic.name for topic in topics(DATABASE, home))]
    delete_topics(home, made)


def put_by_the_lake(home: Environment) -> None:
    """`lake apply` without its last part: no table of this database is to be written."""
    facts = read_facts([DATABASE], home)
    found = [one for one in changes([DATABASE], home, facts) if one.kind in ("source", "topic", "connector")]
    assert apply(found, [DATABASE], home, facts, report=silent) == {}


def declaration(home: Environment, **changed: str) -> Settings:
    """The same capture under a name, a slot and topics of its own."""
    settings = source_connector(DATABASE, home)
    own = {"slot.name": SLOT, "topic.prefix": PREFIX}
    return {key: text for key, text in {**settings, **own, **changed}.items() if key != "name"}


@pytest.fixture
def apply_chart(home: Environment, tmp_path: Path) -> Apply:
    """The chart rendered with these connectors, and its Job run; Connect is the lake's."""

    def run(**declared: Settings) -> hook.Done:
        manifests = manifests_of({name: json.dumps(settings) for name, settings in declared.items()})
        return hook.run(
            only(manifests, "Job"), of_kind(manifests, "ConfigMap"), home.connect, tmp_path, home.connect_login
        )

    return run


def manifests_of(connectors: dict[str, str]) -> list[Manifest]:
    """A scenario with these connectors in place of its own."""
    scenario = scenarios("kafka-connect")[0]
    values = {**yaml.safe_load(scenario.read_text()), "connectors": connectors}
    return parsed(helm("template", "release", chart_of(scenario), "--namespace", "lake", values=values))


def running(home: Environment) -> dict[str, Settings]:
    found = httpx.get(
        f"{home.connect}/connectors", params={"expand": "info"}, trust_env=False, auth=home.connect_login
    ).raise_for_status()
    return {name: about["info"]["config"] for name, about in found.json().items()}


@retry(stop=stop_after_delay(60), wait=wait_fixed(0.3), reraise=True)
def assert_runs(home: Environment, name: str) -> None:
    found = (
        httpx.get(f"{home.connect}/connectors/{name}/status", trust_env=False, auth=home.connect_login)
        .raise_for_status()
        .json()
    )
    assert [found["connector"]["state"], *(task["state"] for task in found["tasks"])] == ["RUNNING"] * 2, found


def test_life_of_a_declared_connector(home: Environment, apply_chart: Apply) -> None:
    others = running(home)
    created = apply_chart(**{DECLARED: declaration(home)})
    assert (created.returncode, created.stdout, created.stderr) == (0, f"{DECLARED}: created\n", "")
    assert_runs(home, DECLARED)
    readers.wait_for_end(home, TOPICS[0], 1)

    again = apply_chart(**{DECLARED: declaration(home)})
    assert (again.returncode, again.stdout) == (0, f"{DECLARED}: as declared\n")

    changed = apply_chart(**{DECLARED: declaration(home, **{"poll.interval.ms": "50"})})
    assert (changed.returncode, changed.stdout) == (0, f"{DECLARED}: changed\n")
    assert running(home)[DECLARED]["poll.interval.ms"] == "50"
    assert_runs(home, DECLARED)

    removed = apply_chart()
    assert (removed.returncode, removed.stdout) == (0, f"{DECLARED}: deleted, it is no longer declared\n")
    assert running(home) == others


def test_the_connector_that_the_lake_put_is_nobodys(home: Environment, apply_chart: Apply) -> None:
    before = running(home)
    assert "lake.owner" not in before[BY_LAKE]
    assert apply_chart().returncode == 0
    assert running(home) == before
    assert_runs(home, BY_LAKE)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"database.hostname": "127.0.0.1", "database.port": "1"}, "database.hostname: "),
        ({"database.password": "${file:/nowhere:password}"}, ""),
        ({"snapshot.mode": "sometimes"}, "snapshot.mode: "),
        ({"connector.class": "io.example.Missing"}, "no plug-in has the class io.example.Missing"),
    ],
    ids=["no database", "no password", "no such mode", "no such class"],
)
def test_one_wrong_declaration_changes_nothing(
    home: Environment, apply_chart: Apply, wrong: Settings, said: str
) -> None:
    before = running(home)
    done = apply_chart(right=declaration(home), wrong=declaration(home, **wrong))
    assert done.returncode == 2
    assert done.stderr.startswith("nothing was changed:\n  wrong: ")
    assert said in done.stderr
    assert running(home) == before


def test_nobody_answers(home: Environment, apply_chart: Apply, tmp_path: Path) -> None:
    """The worker is there, but under another address: the Job must fail, not pass with nothing done."""
    manifests = manifests_of({})
    job = only(manifests, "Job")
    job["spec"]["template"]["spec"]["containers"][0]["args"].append("1")  # seconds to try
    done = hook.run(job, of_kind(manifests, "ConfigMap"), "http://127.0.0.1:9", tmp_path, home.connect_login)
    assert done.returncode == 1
    assert "Kafka Connect: GET http://127.0.0.1:9/connector-plugins: " in done.stderr


def test_a_wrong_password_changes_nothing(home: Environment, tmp_path: Path) -> None:
    manifests = manifests_of({DECLARED: json.dumps(declaration(home))})
    before = running(home)
    login = ("operator", "wrong")
    done = hook.run(only(manifests, "Job"), of_kind(manifests, "ConfigMap"), home.connect, tmp_path, login)
    assert (done.returncode, "401 log in with a user and a password" in done.stderr) == (1, True), done.stderr
    assert running(home) == before


@pytest.mark.parametrize("login", [None, ("operator", "wrong"), ("intruder", "intruder")], ids=str)
def test_rest_refuses_who_does_not_log_in(home: Environment, login: tuple[str, str] | None) -> None:
    # Jetty closes a connection whose body it did not read, and the next request may already be on its way.
    closing = {"Connection": "close"}
    with httpx.Client(base_url=home.connect, auth=login, headers=closing, trust_env=False) as client:
        asked = [client.get(path) for path in ("/", "/connectors", "/connector-plugins", "/admin/loggers")]
        asked += [
            client.put("/connectors/intruder/config", json=declaration(home)),
            client.delete(f"/connectors/{BY_LAKE}"),
        ]
        assert [answer.status_code for answer in asked] == [401] * 6
        assert client.get("/health").status_code == 200
        # Between workers: Connect itself refuses it, for want of a signature.
        assert client.post(f"/connectors/{BY_LAKE}/tasks", json=[]).status_code in (400, 403)
    assert BY_LAKE in running(home)


def ask(home: Environment, folder: Path, verb: str) -> Any:
    """The answer of the pod for operators, its own program and arguments; the AWS CLI is left out."""
    manifests = manifests_of({DECLARED: json.dumps(declaration(home))})
    pod = only(manifests, "CronJob")["spec"]["jobTemplate"]["spec"]["template"]
    pod["spec"]["containers"] = [one for one in pod["spec"].pop("initContainers") if one["name"] == "answer"]
    requests, answers = (folder / f"run/lake/{name}" for name in ("requests", "answers"))
    for place in (requests, answers):
        place.mkdir(parents=True, exist_ok=True)
    (requests / "1.json").write_text(json.dumps({"id": "1", "verb": verb, "arguments": {"names": [DECLARED]}}))
    hook.leave_login(folder, home.connect_login)
    (done,) = hook.run_pod(pod, of_kind(manifests, "ConfigMap"), home.connect, folder)
    assert done.returncode == 0, done.stderr
    return json.loads((answers / "1.json").read_text())["result"]


@retry(stop=stop_after_delay(60), wait=wait_fixed(0.3), reraise=True)
def assert_is(home: Environment, folder: Path, state: str) -> None:
    status = ask(home, folder, "status")[DECLARED]
    assert [one["state"] for one in (status["connector"], *status["tasks"])] == [state] * 2, status


def test_operators_look_at_connectors_and_tell_them(home: Environment, tmp_path: Path) -> None:
    assert ask(home, tmp_path, "settings")[DECLARED]["running"] is None
    assert ask(home, tmp_path, "status") == {DECLARED: {}}
    ask(home, tmp_path, "apply")
    assert_is(home, tmp_path, "RUNNING")
    found = ask(home, tmp_path, "settings")[DECLARED]
    assert found["running"] == found["defined"] == running(home)[DECLARED]
    ask(home, tmp_path, "pause")
    assert_is(home, tmp_path, "PAUSED")
    ask(home, tmp_path, "resume")
    ask(home, tmp_path, "restart")
    assert_is(home, tmp_path, "RUNNING")
    httpx.delete(f"{home.connect}/connectors/{DECLARED}", trust_env=False, auth=home.connect_login).raise_for_status()
