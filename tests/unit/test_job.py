"""Jobs that run to their end: what they need is asked first, and each run has a log of its own."""

import json
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lake.cli import sql
from lake.cli.main import app
from lake.config.environment import PROJECT, Environment
from lake.config.errors import BadInput, LakeError
from lake.config.secrets import Secrets
from lake.deployments import open as open_
from lake.local import parity, spark_job
from lake.local.service import Service
from lake.local.spark_job import JOBS, LOGS, last_log, new_log, run_job

PORTS = 29200  # on the usual ones a lake may run, as `make demo` leaves one
NEEDS = [(name, service.name) for name in ("query", "verify") for service in JOBS[name].needs]
COMMANDS = {"query": ["sql", "select 1"], "verify": ["verify"]}
REFUSES = "import json, sys; open(sys.argv[1][7:], 'w').write(json.dumps({'error': 'no such column'})); sys.exit(2)"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    """A lake with tables, of which no service runs; Spark is a small program in Python."""
    made = Environment(name="local", root=tmp_path, port_base=PORTS)
    made.logs.mkdir(parents=True)
    made.rendered.mkdir(parents=True, exist_ok=True)
    (made.rendered / "pipeline.json").write_text("{}")
    made.secrets_path.write_text(json.dumps({one.name: "x" for one in fields(Secrets)}))
    monkeypatch.setattr(sql, "load_environment", lambda: made)
    monkeypatch.setattr(open_, "load_environment", lambda: made)
    monkeypatch.setattr(parity, "load_databases", lambda root: [])
    return made


def only(monkeypatch: pytest.MonkeyPatch, *silent: str) -> None:
    """All services answer but these."""

    def answers(service: Service) -> bool:
        return service.name not in silent

    monkeypatch.setattr(spark_job, "answers", answers)


def spark(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    def command(environment: Environment, name: str, args: list[str], conf: Any) -> list[str]:
        return [sys.executable, "-c", program, args[args.index("--output") + 1]]

    only(monkeypatch)
    monkeypatch.setattr(spark_job, "spark_submit_command", command)


@pytest.mark.parametrize(("name", "service"), NEEDS)
def test_a_service_that_does_not_answer_is_named(
    home: Environment, monkeypatch: pytest.MonkeyPatch, name: str, service: str
) -> None:
    only(monkeypatch, service)
    refused = CliRunner().invoke(app, COMMANDS[name]).exception
    assert isinstance(refused, BadInput) and refused.exit_code == 2
    port = getattr(home.ports, service)
    assert str(refused) == f"{service} does not answer; 127.0.0.1:{port}; run: lake up"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_lake_that_is_down_is_told_to_come_up(home: Environment, name: str) -> None:
    refused = CliRunner().invoke(app, COMMANDS[name]).exception
    assert isinstance(refused, BadInput) and "does not answer" in str(refused) and "run: lake up" in str(refused)


def test_what_is_refused_is_told_of_the_command_that_was_typed(
    home: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    spark(monkeypatch, REFUSES)
    with pytest.raises(BadInput, match=r"no such column; lake sql; correct it; lake sql 'show databases'"):
        run_job(home, "query", [])
    with pytest.raises(BadInput, match=r"no such column; lake verify; correct it$"):
        run_job(home, "verify", [])


def test_of_two_runs_each_tells_its_own_failure(home: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    def beside(log: Path) -> None:
        if not beside_it:
            beside_it.append(log)
            with pytest.raises(LakeError, match="an Exception of 'second'"):
                run_job(home, "query", ["second"])

    beside_it: list[Path] = []
    monkeypatch.setattr(spark_job, "spark_submit_command", lambda environment, name, args, conf: print_of(args[-1]))
    only(monkeypatch)
    with pytest.raises(LakeError, match="an Exception of 'first'") as failed:
        run_job(home, "query", ["first"], watch=beside)
    assert failed.value.where == str(beside_it[0])


def print_of(text: str) -> list[str]:
    return [sys.executable, "-c", f"import time; print({f'an Exception of {text!r}'!r}, flush=True); time.sleep(1)"]


def test_every_job_is_a_script() -> None:
    scripts = {job.script or name for name, job in JOBS.items()}
    assert [name for name in scripts if not (PROJECT / "spark_jobs" / f"{name}.py").exists()] == []


def test_the_last_logs_are_kept(home: Environment) -> None:
    for run in range(LOGS + 2):
        new_log(home, "query").write_text(str(run))
    kept = sorted(home.logs.glob("job-query-*.log"))
    assert [path.read_text() for path in kept] == [str(run) for run in range(2, LOGS + 2)]
    assert (last_log(home, "query"), last_log(home, "verify")) == (kept[-1], None)
