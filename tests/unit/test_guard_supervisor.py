"""The guardian brings supervisors back."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from lake.guard import supervisor
from lake.local.home import load_home
from lake.local.processes import MARK


@pytest.mark.parametrize(("lost", "started"), [([], 0), (["kafka"], 1)])
def test_the_lake_is_started_again_by_a_process_that_is_not_of_the_lake(
    lost: list[str], started: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`lake up` ends every process that has the mark of a service before it starts a new supervisor of it."""
    ran: list[dict[str, Any]] = []
    monkeypatch.setenv("LAKE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv(MARK, str(tmp_path))
    monkeypatch.setattr(supervisor.Stack, "lost", lambda self: lost)
    monkeypatch.setattr(subprocess, "run", lambda command, **given: ran.append({"command": command, **given}))
    home = load_home()
    home.logs.mkdir()
    supervisor.attend(home)
    assert [one["command"][1:] for one in ran] == [["-m", "lake.cli", "up"]] * started
    assert [(MARK in one["env"], one["start_new_session"]) for one in ran] == [(False, True)] * started
