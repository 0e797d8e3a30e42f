"""A program that writes to disk is not started on a full one."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lake.local import room

COMMAND = [sys.executable, "-I", "-S", room.__file__]


def test_a_program_with_room_takes_the_place_of_the_one_that_waits(tmp_path: Path) -> None:
    own = [sys.executable, "-c", "import os; print(os.getpid())"]
    run = subprocess.Popen([*COMMAND, "1", str(tmp_path), *own], stdout=subprocess.PIPE, text=True)
    out, _ = run.communicate(timeout=120)
    assert (run.returncode, out.strip()) == (0, str(run.pid))


def test_without_room_it_waits_says_so_and_can_be_ended(tmp_path: Path) -> None:
    run = subprocess.Popen([*COMMAND, str(10**9), str(tmp_path), "false"], stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    assert "MiB left, 1000000000 MiB needed; waiting for room" in run.stdout.readline()
    run.terminate()
    assert run.wait(120) == -signal.SIGTERM


def test_it_goes_on_once_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    left = iter([3, 3, 3, 5])
    monkeypatch.setattr(room, "left_mib", lambda folder: next(left))
    monkeypatch.setattr(room, "LOOK_EVERY_S", 0.0)
    room.wait_for_room(str(tmp_path), 5)
    assert capsys.readouterr().out.splitlines()[-1] == f"{tmp_path}: there is room again"
