"""`lake` commands in forks of one process that has loaded them: to load them takes longer than most of them do.

A fork is a process of its own, as a user has one, with its own environment, output, exit code and signals.
"""

import atexit
import json
import os
import shutil
import signal
import socket
import socketserver
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from lake.cli.main import main
from tests import warm_spark

FAILED = 1  # the exit code of Python after an exception
TESTS = os.getppid()


class Forks(socketserver.ForkingMixIn, socketserver.UnixStreamServer):
    """Each request gets a fork of this process, which ends with the tests."""

    request_queue_size = 50

    def service_actions(self) -> None:
        """Called twice a second."""
        super().service_actions()
        if os.getppid() != TESTS:
            sys.exit()


class Handler(socketserver.StreamRequestHandler):
    """Says its process id, runs the command, and says the exit code."""

    def handle(self) -> None:
        asked = json.loads(self.rfile.readline())
        self.wfile.write(f"{os.getpid()}\n".encode())
        self.wfile.write(f"{_run_here(**asked)}\n".encode())


def _run_here(arguments: list[str], environment: dict[str, str], folder: str, output: list[str]) -> int:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for number, path in enumerate(output, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    sys.argv = ["lake", *arguments]
    warm_spark.use_it()
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


@cache
def _server() -> str:
    """Starts it with the first command, and gives its address."""
    folder = tempfile.mkdtemp(prefix="lake_commands_")
    atexit.register(shutil.rmtree, folder)
    address = str(Path(folder) / "socket")
    started = subprocess.Popen([sys.executable, "-m", __name__, address], stdout=subprocess.PIPE)
    assert started.stdout and started.stdout.readline(), "the lake commands cannot be loaded"
    return address


def run(
    arguments: tuple[str, ...], environment: Mapping[str, str], folder: Path, timeout: float
) -> subprocess.CompletedProcess[str]:
    """`lake ARGUMENTS` as by subprocess.run(); raises TimeoutError after killing it."""
    with tempfile.TemporaryDirectory() as scratch, socket.socket(socket.AF_UNIX) as connection:
        output = [Path(scratch) / name for name in ("stdout", "stderr")]
        connection.connect(_server())
        asked = {"arguments": arguments, "environment": dict(environment), "folder": str(folder)}
        asked["output"] = [str(path) for path in output]
        connection.sendall(f"{json.dumps(asked)}\n".encode())
        code = _exit_code(connection, timeout)
        return subprocess.CompletedProcess(["lake", *arguments], code, *(path.read_text() for path in output))


def _exit_code(connection: socket.socket, timeout: float) -> int:
    connection.settimeout(timeout)
    with connection.makefile() as said:
        process = int(said.readline())
        try:
            return int(said.readline() or FAILED)
        except TimeoutError:
            os.kill(process, signal.SIGKILL)
            raise


if __name__ == "__main__":
    with Forks(sys.argv[1], Handler) as forks:
        print("ready", flush=True)
        forks.serve_forever()
