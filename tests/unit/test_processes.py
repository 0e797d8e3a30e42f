"""What a killed supervisor leaves behind is ended, PostgreSQL as gently as it may be."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from lake.local import processes

DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
PATIENT_S = 60.0
# A first process and its child, which says when it is asked. (The child of a shell would never be: it ignores SIGINT.)
FAMILY = """\
import signal, subprocess, sys, time

def end(*_):
    if len(sys.argv) > 1:
        print("asked", flush=True)
    else:
        child.kill()
    sys.exit()

signal.signal(signal.SIGINT, end)
if len(sys.argv) > 1:
    print("up", flush=True)
else:
    child = subprocess.Popen([sys.argv[0], "child"])
while True:
    time.sleep(0.1)
"""


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


def test_what_has_ended_meanwhile_has_no_name(deaf: psutil.Process) -> None:
    """It may end at any moment between the look that found it and the word of it."""
    with subprocess.Popen([sys.executable, "-c", ""]) as started:
        ended = psutil.Process(started.pid)
    assert processes.names([ended, deaf]) == [deaf.name()]
    assert processes.describe(ended) == f"pid {ended.pid}"


@contextmanager
def postgres(script: str, bin_folder: Path, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A stand-in, known by its name, that has printed its first line."""
    path = bin_folder / "postgres"
    path.write_text(script)
    path.chmod(0o755)
    with subprocess.Popen([str(path)], stdout=subprocess.PIPE, text=True, **options) as started:
        try:
            assert started.stdout and started.stdout.readline() == "up\n"
            yield started
        finally:
            started.kill()


def test_postgres_is_asked_and_given_time(tmp_path: Path) -> None:
    """It takes a second to end."""
    script = "#!/bin/sh\ntrap 'sleep 1; echo ended; exit' INT\necho up\nwhile :; do sleep 0.1; done\n"
    with postgres(script, tmp_path) as started:
        processes.stop_orphans([psutil.Process(started.pid)], PATIENT_S)
        assert started.stdout and started.stdout.read() == "ended\n"


def test_of_postgres_only_the_first_process_is_asked(tmp_path: Path) -> None:
    """SIGINT has the checkpointer of PostgreSQL 18 end the log at once, while backends still write to it."""
    with postgres(f"#!{sys.executable}\n{FAMILY}", tmp_path) as started:
        first = psutil.Process(started.pid)
        processes.stop_orphans([*first.children(), first], PATIENT_S)
        assert started.stdout and started.stdout.read() == ""


def test_what_a_killed_postgres_left_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "postgres"
    folder.mkdir()
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    with postgres("#!/bin/sh\necho up\nwhile :; do sleep 0.1; done\n", bin_folder, cwd=folder) as started:
        processes.kill_servers(tmp_path)
        assert started.wait(PATIENT_S) == -signal.SIGKILL


def test_the_processes_of_a_service_are_known_by_what_they_inherit(tmp_path: Path) -> None:
    """One that an earlier version started is of no service."""

    def sleeper(**marks: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], env=marks)

    mark = {processes.MARK: str(tmp_path)}
    started = [
        sleeper(**mark, **{processes.SERVICE: "kafka"}),
        sleeper(**mark),
        sleeper(**{processes.SERVICE: "kafka"}),
    ]
    try:
        found = {name: [one.pid for one in processes.of_service(tmp_path, name)] for name in ("kafka", "", "connect")}
        assert found == {"kafka": [started[0].pid], "": [started[1].pid], "connect": []}
    finally:
        for one in started:
            one.kill()
            one.wait()
