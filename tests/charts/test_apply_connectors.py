"""The hook: what it does to a cluster of Kafka Connect, and what it says when it can't."""

import json
import socket
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from lake.rendering.connector import PLACEHOLDER, render
from tests.charts.fake_connect import POSTGRES, FakeConnect, secret
from tests.charts.rendering import ROOT, only, rendered, scenarios

OWNER = "lake/connect"
MOMA = {"connector.class": POSTGRES, "topic.prefix": "moma"}
OWNED = {**MOMA, "lake.owner": OWNER}
Run = Callable[..., int]


@pytest.fixture
def run(apply_connectors: ModuleType, connect: FakeConnect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the program on a folder that holds these declarations."""
    monkeypatch.setattr(apply_connectors.Connect, "seconds_between", 0.01)

    def run(seconds: float = 5, **declared: object) -> int:
        for path in tmp_path.glob("*.json"):
            path.unlink()
        for name, settings in declared.items():
            (tmp_path / f"{name}.json").write_text(settings if isinstance(settings, str) else json.dumps(settings))
        code: int = apply_connectors.main([connect.url, OWNER, str(tmp_path), str(secret(tmp_path)), str(seconds)])
        return code

    return run


def test_a_declared_connector_is_checked_and_put_with_its_owner(run: Run, connect: FakeConnect) -> None:
    assert run(moma=MOMA) == 0
    assert connect.connectors == {"moma": {**OWNED, "name": "moma"}}
    assert connect.calls == [
        "GET /connector-plugins",
        f"PUT /connector-plugins/{POSTGRES}/config/validate",
        "GET /connectors?expand=info",
        "PUT /connectors/moma/config",
    ]


def test_twice_is_the_same_as_once(run: Run, connect: FakeConnect, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(moma=MOMA) == run(moma=MOMA) == 0
    assert connect.changes() == ["PUT /connectors/moma/config"]
    assert capsys.readouterr().out == "moma: created\nmoma: as declared\n"


def test_a_changed_connector_is_put_again(run: Run, connect: FakeConnect, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(moma=MOMA) == run(moma={**MOMA, "topic.prefix": "other"}) == 0
    assert connect.connectors["moma"]["topic.prefix"] == "other"
    assert capsys.readouterr().out == "moma: created\nmoma: changed\n"


def test_what_is_not_declared_any_more_is_deleted_before_the_rest_is_put(run: Run, connect: FakeConnect) -> None:
    """Before: a renamed connector needs the replication slot that the old one holds."""
    assert run(old=MOMA) == run(new=MOMA) == 0
    assert list(connect.connectors) == ["new"]
    assert connect.changes()[-2:] == ["DELETE /connectors/old", "PUT /connectors/new/config"]


def test_no_declarations_delete_all_of_ours(run: Run, connect: FakeConnect) -> None:
    assert run(a=MOMA, b=MOMA) == run() == 0
    assert connect.connectors == {}


def test_connectors_of_others_stay(run: Run, connect: FakeConnect) -> None:
    connect.connectors = {"by-hand": MOMA, "of-another": {**MOMA, "lake.owner": "lake/other"}}
    assert run(moma=MOMA) == run() == 0
    assert set(connect.connectors) == {"by-hand", "of-another"}


def test_a_declared_name_is_taken_over(run: Run, connect: FakeConnect) -> None:
    connect.connectors = {"moma": {**MOMA, "name": "moma"}}
    assert run(moma=MOMA) == 0
    assert connect.connectors["moma"]["lake.owner"] == OWNER


def test_one_error_of_one_connector_changes_nothing_at_all(
    run: Run, connect: FakeConnect, capsys: pytest.CaptureFixture[str]
) -> None:
    connect.connectors = {"old": OWNED}
    connect.errors = {"bad": ["The connection attempt failed."]}
    assert run(bad=MOMA, good=MOMA) == 2
    assert connect.changes() == []
    assert capsys.readouterr().err == "nothing was changed:\n  bad: database.hostname: The connection attempt failed.\n"


def test_a_plug_in_that_is_not_there_is_named_with_those_that_are(
    run: Run, connect: FakeConnect, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(sink={"connector.class": "io.example.S3Sink"}) == 2
    assert f"sink: no plug-in has the class io.example.S3Sink; there are: {POSTGRES}" in capsys.readouterr().err
    assert connect.changes() == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "Expecting property name"),
        ("[]", "expected one JSON object whose values are all texts"),
        ('{"connector.class": "x", "tasks.max": 1}', "expected one JSON object whose values are all texts"),
        ("{}", "it has no 'connector.class'"),
        ('{"connector.class": "x", "name": "other"}', "it is named 'other'; a connector is named as its file"),
    ],
)
def test_a_wrong_declaration_is_refused_before_connect_is_asked(
    run: Run, connect: FakeConnect, capsys: pytest.CaptureFixture[str], text: str, problem: str
) -> None:
    assert run(moma=MOMA, wrong=text) == 2
    assert f"  wrong.json: {problem}" in capsys.readouterr().err
    assert connect.calls == []


@pytest.mark.parametrize("status", [409, 500, 502, 503, 504])
def test_a_cluster_that_starts_or_rebalances_is_asked_again(run: Run, connect: FakeConnect, status: int) -> None:
    connect.planned = [(status, {"error_code": status, "message": "rebalance in process"})] * 3
    assert run(moma=MOMA) == 0
    assert set(connect.connectors) == {"moma"}


def test_a_refusal_is_final(run: Run, connect: FakeConnect, capsys: pytest.CaptureFixture[str]) -> None:
    connect.planned = [(400, {"error_code": 400, "message": "Connector config is invalid"})]
    assert run(seconds=60, moma=MOMA) == 1
    said = capsys.readouterr().err
    assert said == f"Kafka Connect: GET {connect.url}/connector-plugins: 400 Connector config is invalid\n"


def test_patience_ends(run: Run, connect: FakeConnect, capsys: pytest.CaptureFixture[str]) -> None:
    connect.planned = [(503, {"message": "Worker is still starting up."})] * 1000
    assert run(seconds=0.05, moma=MOMA) == 1
    assert "503 Worker is still starting up." in capsys.readouterr().err


def test_an_answer_that_is_not_connects_is_told(
    run: Run, connect: FakeConnect, capsys: pytest.CaptureFixture[str]
) -> None:
    connect.planned = [(200, {"version": "4.3.1"})]
    assert run(moma=MOMA) == 1
    assert "expected a list in the answer, found dict; is the URL Connect's?" in capsys.readouterr().err


def test_a_deletion_that_got_through_without_an_answer_is_done(run: Run, connect: FakeConnect) -> None:
    """The first DELETE worked but its answer was lost: the second finds nothing, and that is right."""
    connect.connectors = {"old": OWNED}
    answers = connect.answer

    def lossy(method: str, path: str, body: object) -> tuple[int, object]:
        answer = answers(method, path, body)
        return (504, None) if answer[0] == 204 else answer

    connect.answer = lossy  # type: ignore[method-assign]
    assert run() == 0
    assert connect.changes() == ["DELETE /connectors/old"] * 2


def test_nobody_answers(apply_connectors: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    assert apply_connectors.main([url, OWNER, str(tmp_path), str(secret(tmp_path)), "0.1"]) == 1
    assert "Connection refused" in capsys.readouterr().err


def test_the_program_needs_nothing_but_python() -> None:
    import ast
    import sys

    for path in (ROOT / "helm").glob("*/files/*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text())))
        names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
        neighbours = {one.stem for one in path.parent.glob("*.py")}
        assert {name.split(".")[0] for name in names} <= set(sys.stdlib_module_names) | neighbours


def test_the_hook_runs_after_install_upgrade_and_rollback_and_keeps_its_log() -> None:
    job = only(rendered(scenarios("kafka-connect")[0]), "Job")
    assert job["metadata"]["annotations"] == {
        "helm.sh/hook": "post-install,post-upgrade,post-rollback",
        "helm.sh/hook-delete-policy": "before-hook-creation",
    }


def test_the_hook_gives_up_before_kubernetes_stops_it(apply_connectors: ModuleType) -> None:
    """Or the reason would be lost."""
    job = only(rendered(scenarios("kafka-connect")[0]), "Job")["spec"]
    assert job["activeDeadlineSeconds"] > apply_connectors.SECONDS_TO_TRY


def test_the_project_s_own_connector_arrives_as_it_was_rendered(
    apply_connectors: ModuleType, connect: FakeConnect, tmp_path: Path
) -> None:
    """From the template, through the chart's ConfigMap and the hook's own arguments, into Connect."""
    template = ROOT / "connector_configs/source_postgres_kafka.json"
    values = {name: name.lower() for name in PLACEHOLDER.findall(template.read_text())}
    values |= {"CAPTURE_PASSWORD": "${secrets:database:password}", "KEY_ONLY_TOPICS": "(?!)"}
    values["REGISTRY_URL"] = "${env:REGISTRY_URL}/apis/registry/v2"
    settings = render(template, values)
    manifests = rendered(scenarios("kafka-connect")[0], {"connectors": {"connector": json.dumps(settings)}})
    for name, text in only(manifests, "ConfigMap", "-connectors")["data"].items():
        (tmp_path / name).write_text(text)
    _, owner, *_ = only(manifests, "Job")["spec"]["template"]["spec"]["containers"][0]["args"]
    assert apply_connectors.main([connect.url, owner, str(tmp_path), str(secret(tmp_path)), "5"]) == 0
    assert connect.connectors["connector"] == {**settings, "name": "connector", "lake.owner": "lake/release"}


def test_a_wrong_password_is_told_and_changes_nothing(
    apply_connectors: ModuleType, connect: FakeConnect, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    login = secret(tmp_path, ("operator", "hunter2"))
    (tmp_path / "moma.json").write_text(json.dumps(MOMA))
    assert apply_connectors.main([connect.url, OWNER, str(tmp_path), str(login), "0"]) == 1
    said = capsys.readouterr().err
    assert "401 log in with a user and a password" in said and "hunter2" not in said
    assert connect.calls == [] and not login.exists()
