"""The guardian brings supervisors back."""

import subprocess
import threading
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lake.config.environment import Environment, load_environment
from lake.config.lock import locked
from lake.guardian import supervisors
from lake.local import stack as stack_module
from lake.local.processes import MARK, SERVICE
from lake.local.stack import Stack
from lake.local.supervisor import Supervisor


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Environment:
    monkeypatch.setenv("LAKE_DATA_DIR", str(tmp_path))
    found = load_environment()
    found.logs.mkdir()
    return found


@pytest.mark.parametrize(
    ("lost", "at_work", "code", "started", "well"),
    [
        ([], False, 0, 0, True),
        (["kafka"], False, 0, 1, True),
        (["kafka"], False, 1, 1, False),
        (["kafka"], True, 0, 0, True),  # `lake restart kafka` has ended it, and starts it anew
    ],
)
def test_what_lost_its_supervisor_is_started_again_by_a_process_that_is_not_of_the_lake(
    lost: list[str],
    at_work: bool,
    code: int,
    started: int,
    well: bool,
    monkeypatch: pytest.MonkeyPatch,
    home: Environment,
) -> None:
    """What has the marks of a service is ended before a new supervisor of it starts: a guardian without one, too."""
    ran: list[dict[str, Any]] = []

    def run(command: list[str], **given: Any) -> Any:
        ran.append({"command": command, **given})
        return SimpleNamespace(returncode=code)

    for name in (MARK, SERVICE):
        monkeypatch.setenv(name, "guardian")
    monkeypatch.setattr(Stack, "lost", lambda self: lost)
    monkeypatch.setattr(subprocess, "run", run)
    with locked(home.lock, "") if at_work else nullcontext():
        assert supervisors.attend(home) == well
    assert [one["command"][1:] for one in ran] == [["-m", "lake.guardian.supervisors"]] * started
    assert [{MARK, SERVICE} & set(one["env"]) for one in ran] == [set()] * started
    assert [one["start_new_session"] for one in ran] == [True] * started


def test_what_cannot_be_started_is_not_tried_all_the_time(monkeypatch: pytest.MonkeyPatch, home: Environment) -> None:
    answers = iter([True, False, False, True, True])
    waited: list[float] = []
    stopping = threading.Event()

    def wait(seconds: float) -> bool:
        waited.append(seconds)
        return len(waited) > 5

    monkeypatch.setattr(stopping, "wait", wait)
    monkeypatch.setattr(supervisors, "attend", lambda _: next(answers))
    supervisors.keep(home, stopping)
    assert waited == [1, 1, 2, 5, 1, 1]


@pytest.mark.parametrize(("supervised", "started"), [("postgres", ["kafka"]), ("postgres kafka", []), ("", [])])
def test_only_what_lost_its_supervisor_is_started_again(
    supervised: str, started: list[str], monkeypatch: pytest.MonkeyPatch, home: Environment
) -> None:
    """What was stopped by hand has one; a lake that is down, or is stopped right now, has no processes."""
    ran: list[str] = []
    stack, names = Stack(home), supervised.split()
    stack.services = [service for service in stack.services if service.name in ("postgres", "kafka")]
    monkeypatch.setattr(Supervisor, "pid", lambda self: 7 if self.service.name in names else None)
    monkeypatch.setattr(Supervisor, "start", lambda self: ran.append(self.service.name))
    monkeypatch.setattr(stack_module.processes, "of_lake", lambda data: [SimpleNamespace(pid=7)] * len(names))
    monkeypatch.setattr(stack_module.processes, "service_of", lambda process: None)
    monkeypatch.setattr(stack_module, "answers", lambda service: True)
    for service in stack.services:
        monkeypatch.setattr(service, "prepare", list)
        monkeypatch.setattr(service, "initialise", lambda: None)
    assert (stack.revive(), ran) == (bool(started), started)
