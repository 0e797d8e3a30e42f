"""What a killed supervisor leaves behind is ended, PostgreSQL as gently as it may be."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from lake.local import processes

DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
PATIENT_S = 5.0


@pytest.fixture
def deaf() -> Iterator[psutil.Process]:
    """It does not end when it is asked to, as a broker that waits for its clients."""
    with subprocess.Popen([sys.executable, "-c", DEAF], stdout=subprocess.PIPE) as started:
        assert started.stdout and started.stdout.readline()
        yield psutil.Process(started.pid)
        started.kill()


def test_what_waits_for_others_is_killed_soon(deaf: psutil.Process) -> None:
    began = time.monotonic()
    processes.stop_orphans([deaf], PATIENT_S)
    assert time.monotonic() - began < PATIENT_S
    assert not deaf.is_running() or deaf.status() == psutil.STATUS_ZOMBIE


def test_postgres_is_asked_and_given_time(tmp_path: Path) -> None:
    """It is known by its name; as a stand-in, a shell of that name that takes a second to end."""
    script = tmp_path / "postgres"
    script.write_text("#!/bin/sh\ntrap 'sleep 1; echo ended; exit' INT\necho up\nwhile :; do sleep 0.1; done\n")
    script.chmod(0o755)
    with subprocess.Popen([str(script)], stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout and started.stdout.readline() == "up\n"
        processes.stop_orphans([psutil.Process(started.pid)], PATIENT_S)
        assert started.stdout.read() == "ended\n"


def test_of_postgres_only_the_first_process_is_asked(tmp_path: Path) -> None:
    """SIGINT has the checkpointer of PostgreSQL 18 end the log at once, while backends still write to it."""
    script = tmp_path / "postgres"
    child = "trap 'echo asked' INT\necho child\n"
    script.write_text(
        f"#!/bin/sh\n[ $1 ] && {{ {child}while :; do sleep 0.1; done; }}\n"
        "trap 'kill -9 $!; exit' INT\n$0 child &\nwhile :; do sleep 0.1; done\n"
    )
    script.chmod(0o755)
    with subprocess.Popen([str(script)], stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout and started.stdout.readline() == "child\n"
        first = psutil.Process(started.pid)
        processes.stop_orphans([*[one for one in first.children() if one.name() == "postgres"], first], PATIENT_S)
        assert started.stdout.read() == ""


def test_what_a_killed_postgres_left_is_killed(tmp_path: Path) -> None:
    folder, script = tmp_path / "postgres", tmp_path / "bin" / "postgres"
    folder.mkdir()
    script.parent.mkdir()
    script.write_text("#!/bin/sh\necho up\nwhile :; do sleep 0.1; done\n")
    script.chmod(0o755)
    with subprocess.Popen([str(script)], stdout=subprocess.PIPE, cwd=folder) as started:
        assert started.stdout and started.stdout.readline()
        processes.kill_servers(tmp_path, PATIENT_S)
        assert started.wait(PATIENT_S) == -signal.SIGKILL
