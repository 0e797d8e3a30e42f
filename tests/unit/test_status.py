"""`lake status` and its likes: free text as it came, facts for machines, and mixtures that mean nothing."""

import json
from dataclasses import replace
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console, RenderableType
from typer.testing import CliRunner

from lake.cli import connectors, jobs, options
from lake.cli import status as status_command
from lake.cli.main import app
from lake.cli.quarantine import messages_table
from lake.cli.status import overview
from lake.clients import guardian_report, table_status
from lake.clients.table_status import SourceStatus, TableStatus
from lake.config.environment import load_environment
from lake.config.errors import BadInput
from lake.deployments.deployment import Job, Status
from lake.local import status
from lake.local.service import Service
from lake.local.stack import Stack
from lake.local.status import Pairing, ServiceStatus
from lake.local.supervisor import State, Supervisor
from lake.sources.drift import Drift
from tests.clocks import replace_time

REASON = "Timed out [/127.0.0.1:9092] at [bold]"
STREAM = ServiceStatus("stream", "running", 7, 60, 2**20, REASON)
SOURCE = SourceStatus("shop", "RUNNING", ["RUNNING", "FAILED"], "active, reserved", 1, REASON)
TABLE = TableStatus("shop_cow.a", "failed", 1, None, None, None, None, REASON, 2)
FAILED = {"connector": {"state": "RUNNING"}, "tasks": [{"state": "FAILED", "trace": REASON}]}
ASIDE = {"id": "shop.a/0/0/1", "set_aside_at": "", "bytes": 1, "state": "waiting", "reason": REASON, "settled_by": None}


def shown(what: RenderableType) -> str:
    console = Console(file=StringIO(), width=300)
    console.print(what)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param({"services": [STREAM]}, id="services"),
        pytest.param({"sources": [SOURCE]}, id="sources"),
        pytest.param({"tables": [TABLE]}, id="tables"),
        pytest.param({"drifts": [Drift("shop", "", REASON, "look")]}, id="drifts"),
    ],
)
def test_a_reason_is_shown_as_it_came(facts: dict[str, Any]) -> None:
    assert REASON in shown(overview(Status(False, facts)))


@pytest.mark.parametrize(
    ("running", "more"),
    [("3.5.5", ""), ("", ""), ("3.4.1", "; the streaming job runs on Spark 3.4.1 until: lake down")],
)
def test_the_release_is_shown_with_what_runs(running: str, more: str) -> None:
    facts = {"pairing": Pairing("emr-7.10.0", "3.5.5", "0.15.0", running)}
    assert shown(overview(Status(True, facts))).startswith(f"emr-7.10.0: Spark 3.5.5, Hudi 0.15.0{more}")
    assert ("until" in shown(overview(Status(True, facts)))) == bool(more)


def test_so_is_that_of_a_message() -> None:
    assert REASON in shown(messages_table([ASIDE]))


@pytest.mark.parametrize("words", [["connectors", "status"], ["jobs", "list"]])
def test_so_is_that_of_a_connector_or_a_job(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        jobs = SimpleNamespace(all=lambda: [Job("stream", True, "stopped", reason=REASON)])

        def connectors(self, *_: Any) -> Any:
            return lambda verb: {"source_postgres_shop": FAILED}

    for module in (connectors, jobs):
        monkeypatch.setattr(module, "open_deployment", lambda env: Broken())
    console = Console(file=StringIO(), width=300)
    monkeypatch.setattr(options, "out", console)
    CliRunner().invoke(app, words)
    assert REASON in console.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["service_failure", "sync_failure"])
def test_what_fails_beside_the_writing_of_a_table_is_not_well(name: str) -> None:
    facts = {"state": "running", "offsets": {}, name: "Timed out"}
    (failing,) = table_status.of_report({"shop_cow.a": facts}, 0, 15)
    assert (failing.state, table_status.healthy([failing], [])) == ("unserved", False)
    assert "Timed out" in failing.reason and "see: lake jobs logs stream" in failing.reason
    (well,) = table_status.of_report({"shop_cow.a": {**facts, name: ""}}, 0, 15)
    assert (well.state, well.reason, table_status.healthy([well], [])) == ("running", "", True)


def test_a_table_that_is_not_written_keeps_its_state() -> None:
    (stopped,) = table_status.of_report({"a": {"state": "stopped", "reason": "x", "sync_failure": "y"}}, 0, 15)
    assert (stopped.state, stopped.reason) == ("stopped", "x")


def test_a_service_that_ends_at_once_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Stack, "runs", lambda self: True)
    monkeypatch.setattr(Supervisor, "pid", lambda self: 7)
    monkeypatch.setattr(
        Supervisor, "state", lambda self: State(self.service.name, "BACKOFF", 0, 0, "Exited too quickly")
    )
    monkeypatch.setattr(Service, "wanted", lambda self: True)
    lines = status.services(load_environment())
    (line,) = [one for one in lines if one.name == "registry"]
    assert (line.state, "see: lake logs registry" in line.reason) == ("failing", True)
    assert not status.healthy([line])


def test_the_facts_hold_the_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing: Any = lambda *_: []  # noqa: E731
    monkeypatch.setattr(status, "services", lambda home: [STREAM])
    monkeypatch.setattr(table_status, "tables", nothing)
    monkeypatch.setattr(table_status, "sources", nothing)
    monkeypatch.setattr(guardian_report, "read", nothing)
    facts = json.loads(CliRunner().invoke(app, ["status", "--json"]).stdout)
    assert [(one["name"], one["state"], one["continuous"]) for one in facts["jobs"]] == [("stream", "running", True)]
    assert (facts["pairing"]["release"], facts["pairing"]["hudi"]) == ("emr-6.15.0", "0.14.0")


@pytest.mark.parametrize("mixture", [["--json"], ["--env", "dev"]])
def test_watching_goes_with_nothing_else(mixture: list[str]) -> None:
    refused = CliRunner().invoke(app, ["status", "--watch", *mixture]).exception
    assert isinstance(refused, BadInput)
    assert "leave out --watch" in str(refused)


def test_watching_shows_it_anew_until_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing: Any = lambda *_: []  # noqa: E731
    states, slept = iter(["starting", "running"]), iter([None, KeyboardInterrupt()])
    monkeypatch.setattr(status, "services", lambda home: [replace(STREAM, state=next(states))])
    for module, name in ((table_status, "tables"), (table_status, "sources"), (guardian_report, "read")):
        monkeypatch.setattr(module, name, nothing)
    console = Console(file=StringIO(), width=300, force_terminal=True)
    monkeypatch.setattr(options, "out", console)
    replace_time(monkeypatch, status_command, sleep=lambda seconds: raised(next(slept)))
    CliRunner().invoke(app, ["status", "--watch"])
    first, second = console.file.getvalue().split("starting")  # type: ignore[attr-defined]
    assert "running" in second and "running" not in first


def raised(error: BaseException | None) -> None:
    if error:
        raise error
