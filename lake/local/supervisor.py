"""The supervisors: supervisord keeps a service running, restarts it when it dies, and holds its log.

Each service has one of its own: who kills a supervisor costs the lake one service, and each is given its own secrets.
"""

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import xmlrpc.client
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from supervisor.xmlrpc import SupervisorTransport

from lake.config.errors import LakeError
from lake.config.files import replace_file
from lake.config.home import Home
from lake.config.waiting import wait_until
from lake.local.processes import GONE, MARK, SERVICE
from lake.local.service import Program, Service

# A socket path has room for 107 characters, and supervisord adds its pid while it creates it.
SOCKET_PATH_LIMIT = 95
START_WITHIN_S = 10
POLL_S = 0.05
# Settings of the caller's shell that would change what a service does.
FOREIGN = (
    *("APICURIO_", "AWS_", "CLASSPATH", "HADOOP_", "HIVE_", "JAVA_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"),
    *("KAFKA_", "PG", "PYSPARK_", "PYTHON", "QUARKUS_", "ROOT_", "SPARK_", "VGW_"),
)
RUNNING, STOPPED, BACKOFF = "RUNNING", "STOPPED", "BACKOFF"
ALREADY_STARTED, NOT_RUNNING = 60, 70  # supervisord's codes of what is no failure here
CONFIG = """\
[unix_http_server]
file = {socket}
chmod = 0600

[supervisord]
logfile = {log}
logfile_maxbytes = 5MB
logfile_backups = 1
pidfile = {pidfile}
directory = {data}
{user}
[rpcinterface:supervisor]
supervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface

[supervisorctl]
serverurl = unix://{socket}
"""
# It never gives up; each start that fails within startsecs makes the next one a second later.
PROGRAM = """
[program:{name}]
command = {command}
directory = {folder}
environment = {environment}
autostart = false
autorestart = true
startsecs = 1
startretries = 1000000
stopsignal = {signal}
stopasgroup = {group}
killasgroup = true
stopwaitsecs = {wait}
redirect_stderr = true
stdout_logfile = {log}
stdout_logfile_maxbytes = 20MB
stdout_logfile_backups = 2
"""
STOP_WAIT_S = 8
LOG_PREFIX = "supervisor-"  # of the supervisor's own log, before the service's name


@dataclass(frozen=True)
class State:
    """The state of a service, from its supervisor. started_at: seconds since 1970, 0 if it never ran."""

    name: str
    state: str
    pid: int
    started_at: int
    reason: str


class Supervisor:
    """supervisord of one service of a lake, spoken to through a socket that only the user may open."""

    def __init__(self, home: Home, service: Service) -> None:
        self.home = home
        self.service = service
        self.config = self._folder / f"{service.name}.conf"

    @property
    def _folder(self) -> Path:
        return self.home.data / "supervisors"

    @property
    def _pidfile(self) -> Path:
        return self._folder / f"{self.service.name}.pid"

    @property
    def socket(self) -> Path:
        """In the data folder, or in a private folder below /tmp where that path is too long."""
        near = self._folder / f"{self.service.name}.sock"
        if len(str(near)) <= SOCKET_PATH_LIMIT:
            return near
        key = hashlib.sha256(str(self.home.data).encode()).hexdigest()[:12]
        return Path(tempfile.gettempdir(), f"lake-{os.getuid()}-{key}", near.name)

    def forget_socket(self) -> None:
        """Deletes the folder of sockets, if it is not part of the data."""
        if not self.socket.is_relative_to(self.home.data):
            shutil.rmtree(self.socket.parent, ignore_errors=True)

    def process(self) -> psutil.Process | None:
        """The running supervisor; None if there is none."""
        try:
            process = psutil.Process(int(self._pidfile.read_text()))
            return process if str(self.config) in process.cmdline() else None
        except (OSError, ValueError, *GONE):
            return None

    def pid(self) -> int | None:
        """The pid of the running supervisor; None if there is none."""
        process = self.process()
        return process.pid if process else None

    def render(self) -> str:
        """The configuration of supervisord; holds no secret."""
        log = self.home.log(f"{LOG_PREFIX}{self.service.name}")
        values = {"socket": self.socket, "log": log, "pidfile": self._pidfile, "data": self.home.data}
        user = "user = root\n" if os.getuid() == 0 else ""
        head = CONFIG.format(user=user, **{key: _escape(str(value)) for key, value in values.items()})
        return head + _section(self.service.name, self.service.program(), self.home)

    def start(self) -> None:
        """Starts the service, and its supervisord if needed, without waiting."""
        if self.pid() is None:
            self._start()
        self._call("startProcess", self.service.name, False, unless=ALREADY_STARTED)

    def _start(self) -> None:
        self.home.logs.mkdir(parents=True, exist_ok=True)
        for folder in {self._folder, self.socket.parent}:
            self._make_private(folder)
        replace_file(self.config, self.render())
        mark = {MARK: str(self.home.data), SERVICE: self.service.name}
        environment = {**_clean_environment(os.environ), **mark, **self.service.secrets()}
        command = [sys.executable, "-m", "supervisor.supervisord", "-c", str(self.config)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=self.home.data)
        if done.returncode != 0:
            reason = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no message"]
            raise LakeError(f"supervisord did not start: {reason[0]}", str(self.config), "run: lake up")
        wait_until(self._answers, START_WITHIN_S, self._failed("does not answer"), POLL_S)

    def _make_private(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_uid != os.getuid():
            raise LakeError("the folder belongs to another user", str(folder), "remove it, or set TMPDIR")

    def _answers(self) -> bool:
        try:
            return bool(self._call("getState"))
        except LakeError:
            return False

    def _call(self, method: str, *arguments: Any, unless: int | None = None) -> Any:
        """The answer; None when it is refused with the code `unless`. LakeError when it does not answer, or refuses."""
        transport = SupervisorTransport(None, None, f"unix://{self.socket}")
        with xmlrpc.client.ServerProxy("http://127.0.0.1", transport=transport) as proxy:
            try:
                return getattr(proxy.supervisor, method)(*arguments)
            except xmlrpc.client.Fault as fault:
                if fault.faultCode == unless:
                    return None
                raise self._failed(f"refuses: {fault.faultString}") from None
            except (OSError, xmlrpc.client.ProtocolError) as error:
                raise self._failed(f"does not answer ({error})") from None

    def _failed(self, what: str) -> LakeError:
        name = self.service.name
        return LakeError(f"the supervisor of {name} {what}", str(self.socket), f"see: lake logs {LOG_PREFIX}{name}")

    def _ask(self, method: str, *arguments: Any, unless: int | None = None) -> Any:
        """Like _call, but None if there is no supervisor, or it ends during the call."""
        try:
            return self._call(method, *arguments, unless=unless) if self.pid() is not None else None
        except LakeError:
            if self.pid() is not None:
                raise
            return None

    def state(self) -> State:
        """The state of the service. It is stopped if its supervisor does not run."""
        item = self._ask("getProcessInfo", self.service.name)
        if item is None:
            return State(self.service.name, STOPPED, 0, 0, "")
        return State(item["name"], item["statename"], item["pid"], item["start"], item["spawnerr"] or "")

    def stop(self, wait: bool = True) -> None:
        """Stops the service until start(). No error if it does not run."""
        self._ask("stopProcess", self.service.name, wait, unless=NOT_RUNNING)


def _section(name: str, program: Program, home: Home) -> str:
    pairs = ",".join(f'{key}="{value}"' for key, value in program.environment.items())
    return PROGRAM.format(
        name=name,
        command=_escape(shlex.join(program.command)),
        folder=_escape(str(program.folder)),
        environment=_escape(pairs),
        signal=program.stop_signal,
        group=str(program.stop_group).lower(),
        wait=STOP_WAIT_S,
        log=_escape(str(home.log(name))),
    )


def _escape(text: str) -> str:
    """supervisord expands %(...)s in its configuration."""
    return text.replace("%", "%%")


def _clean_environment(given: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in given.items() if not key.startswith(FOREIGN)}
