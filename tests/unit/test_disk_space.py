"""A program that writes to disk is not started on a full one."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lake.local import disk_space

COMMAND = [sys.executable, "-I", "-S", disk_space.__file__]


def test_with_enough_space_the_program_replaces_the_waiting_one(tmp_path: Path) -> None:
    own = [sys.executable, "-c", "import os; print(os.getpid())"]
    run = subprocess.Popen([*COMMAND, "1", str(tmp_path), *own], stdout=subprocess.PIPE, text=True)
    out, _ = run.communicate(timeout=120)
    assert (run.returncode, out.strip()) == (0, str(run.pid))


def test_without_space_it_waits_and_says_so_and_can_be_ended(tmp_path: Path) -> None:
    run = subprocess.Popen([*COMMAND, str(10**9), str(tmp_path), "false"], stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    assert "MiB left, 1000000000 MiB needed; waiting for free space" in run.stdout.readline()
    run.terminate()
    assert run.wait(120) == -signal.SIGTERM


def test_it_continues_once_there_is_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    left = iter([3, 3, 3, 5])
    monkeypatch.setattr(disk_space, "left_mib", lambda folder: next(left))
    monkeypatch.setattr(disk_space, "POLL_S", 0.0)
    disk_space.wait_for_space(str(tmp_path), 5)
    assert capsys.readouterr().out.splitlines()[-1] == f"{tmp_path}: there is enough free space again"
