"""What operators ask of Connect by files: which verbs there are, what they reach, and what an answer never says."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.charts.fake_connect import POSTGRES, FakeConnect
from tests.charts.rendering import containers, of_kind, only, rendered, scenarios

OWNER = "lake/connect"
MOMA = {"connector.class": POSTGRES, "database.password": "${directory:/run/lake/database:password}"}
PUT = {**MOMA, "name": "moma", "lake.owner": OWNER}
Ask = Callable[..., Any]


@pytest.fixture
def ask(answer_requests: ModuleType, connect: FakeConnect, tmp_path: Path) -> Ask:
    """The answer to one request, as the pod leaves it; None where it leaves none."""
    folders = [tmp_path / name for name in ("declared", "requests", "answers")]
    for folder in folders:
        folder.mkdir()
    (folders[0] / "moma.json").write_text(json.dumps(MOMA))

    def ask(request: object, age_s: float = 0.0, url: str = "") -> Any:
        path = folders[1] / "1.json"
        path.write_text(request if isinstance(request, str) else json.dumps(request))
        os.utime(path, (time.time() - age_s,) * 2)
        assert answer_requests.main([url or connect.url, OWNER, *map(str, folders), "0.5"]) == 0
        answer = folders[2] / "1.json"
        return json.loads(answer.read_text()) if answer.exists() else None

    return ask


def request(verb: str, *names: str) -> dict[str, object]:
    return {"id": "1", "verb": verb, "arguments": {"names": list(names)}}


def done(result: object) -> dict[str, object]:
    return {"id": "1", "code": 0, "result": result}


def test_settings_are_what_runs_beside_what_is_declared(ask: Ask, connect: FakeConnect) -> None:
    assert ask(request("settings", "moma")) == done({"moma": {"running": None, "defined": PUT}})
    connect.connectors = {"moma": {**PUT, "poll.interval.ms": "1"}}
    running = ask(request("settings"))["result"]["moma"]["running"]
    assert running == {**PUT, "poll.interval.ms": "1"}
    assert connect.changes() == []


def test_a_secret_that_somebody_put_by_hand_stays_here(ask: Ask, connect: FakeConnect) -> None:
    connect.connectors = {"moma": {**PUT, "database.password": "hunter2", "sasl.jaas.config": "hunter2"}}
    answer = ask(request("settings"))
    assert "hunter2" not in json.dumps(answer)
    assert answer["result"]["moma"]["running"]["database.password"] == "(hidden: it is not a reference)"


def test_apply_puts_what_is_declared_and_says_what_there_was(ask: Ask, connect: FakeConnect) -> None:
    connect.connectors = {"moma": {"name": "moma"}, "of-another": {"name": "of-another"}}
    answer = ask(request("apply", "moma"))["result"]
    assert answer["moma"]["running"] == {"name": "moma"}
    assert connect.connectors == {"moma": PUT, "of-another": {"name": "of-another"}}
    ask(request("apply", "moma"))
    assert connect.changes() == ["PUT /connectors/moma/config"]


def test_what_connect_finds_wrong_is_put_nowhere(ask: Ask, connect: FakeConnect) -> None:
    connect.errors = {"moma": ["The connection attempt failed."]}
    result = {"error": "moma: database.hostname: The connection attempt failed."}
    assert ask(request("apply")) == {"id": "1", "code": 2, "result": result}
    assert connect.changes() == []


def test_a_failure_is_shortened_to_its_root_cause(ask: Ask, connect: FakeConnect) -> None:
    assert ask(request("status")) == done({"moma": {}})
    connect.connectors, connect.states = {"moma": PUT}, {"moma": "FAILED"}
    (task,) = ask(request("status"))["result"]["moma"]["tasks"]
    assert (task["state"], task["trace"]) == ("FAILED", "a reason")


@pytest.mark.parametrize(
    ("verb", "call"),
    [
        ("restart", "POST /connectors/moma/restart?includeTasks=true"),
        ("pause", "PUT /connectors/moma/pause"),
        ("resume", "PUT /connectors/moma/resume"),
    ],
)
def test_a_connector_is_told(ask: Ask, connect: FakeConnect, verb: str, call: str) -> None:
    connect.connectors = {"moma": PUT}
    assert ask(request(verb, "moma")) == done({"moma": {}})
    assert connect.changes() == [call]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("{", "expected"),
        ([], "expected"),
        ({"verb": "pause"}, "expected"),
        ({"verb": "pause", "names": ["moma"]}, "expected"),
        (request("delete", "moma"), "there is no verb 'delete'"),
        (request("pause", "of-another"), "no connector 'of-another' is deployed; there are: moma"),
        ({"verb": "apply", "arguments": {"names": [], "settings": {"moma": {"connector.class": "evil"}}}}, ""),
    ],
)
def test_a_request_reaches_no_further_than_its_verbs(ask: Ask, connect: FakeConnect, wrong: object, said: str) -> None:
    connect.connectors = {"moma": PUT, "of-another": {"name": "of-another"}}
    answer = ask(wrong)
    assert said in answer["result"].get("error", "") and answer["code"] in (0, 2)
    assert connect.changes() == []
    assert connect.connectors["moma"] == PUT


def test_a_request_that_nobody_waits_for_any_more_changes_nothing(ask: Ask, connect: FakeConnect) -> None:
    connect.connectors = {"moma": PUT}
    assert ask(request("pause", "moma"), age_s=400) is None
    assert connect.calls == []


def test_connect_that_is_away_is_an_answer(ask: Ask) -> None:
    answer = ask(request("status"), url="http://127.0.0.1:9")
    assert answer["code"] == 1 and "Connection refused" in answer["result"]["error"]


def test_the_pod_has_no_account_of_the_workers_and_its_command_waits_longer() -> None:
    """Its role reads requests and writes answers; the workers' reads the secret of the database."""
    manifests = rendered(scenarios("kafka-connect")[0])
    job = only(manifests, "CronJob")["spec"]
    pod = job["jobTemplate"]["spec"]["template"]["spec"]
    worker = only(manifests, "Deployment")["spec"]["template"]["spec"]
    assert pod["serviceAccountName"] != worker["serviceAccountName"]
    assert {one["metadata"]["name"] for one in of_kind(manifests, "ServiceAccount")} == {
        pod["serviceAccountName"],
        worker["serviceAccountName"],
    }
    assert job["concurrencyPolicy"] == "Forbid"


def test_the_pod_ends_before_kubernetes_stops_it_and_before_a_request_is_too_old(answer_requests: ModuleType) -> None:
    job = only(rendered(scenarios("kafka-connect")[0]), "CronJob")["spec"]["jobTemplate"]["spec"]
    assert answer_requests.SECONDS_TO_TRY < job["activeDeadlineSeconds"] < answer_requests.EXPIRES_S


def test_only_the_aws_cli_knows_the_bucket() -> None:
    job = only(rendered(scenarios("kafka-connect")[0]), "CronJob")["spec"]["jobTemplate"]["spec"]
    knowing = [one["name"] for one in containers(job["template"]) if "lake-demo-artifacts" in json.dumps(one)]
    assert knowing == ["fetch", "send"]
