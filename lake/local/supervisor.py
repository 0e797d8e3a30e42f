"""The supervisors: supervisord runs a service, restarts it when it dies, and writes its log.

Each service has its own supervisor: a killed supervisor costs one service only, and each gets its own secrets only.
"""

import hashlib
import os
import shlex
import shutil
import sys
import tempfile
import xmlrpc.client
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from supervisor.xmlrpc import SupervisorTransport

from lake.config.environment import Environment
from lake.config.errors import LakeError
from lake.config.files import replace_file
from lake.config.waiting import wait_until
from lake.local.processes import GONE, MARK, SERVICE
from lake.local.service import Service, run_tool

# A socket path has room for 107 characters, and supervisord adds its pid while it creates it.
SOCKET_PATH_LIMIT = 95
START_WITHIN_S = 10
POLL_S = 0.05
# Variables of the caller's shell that would change the behaviour of a service.
FOREIGN = (
    *("APICURIO_", "AWS_", "CLASSPATH", "HADOOP_", "HIVE_", "JAVA_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"),
    *("KAFKA_", "PG", "PYSPARK_", "PYTHON", "QUARKUS_", "ROOT_", "SPARK_", "VGW_"),
)
RUNNING, STOPPED, BACKOFF = "RUNNING", "STOPPED", "BACKOFF"
ALREADY_STARTED, NOT_RUNNING = 60, 70  # codes of supervisord that are no failures here
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
    """supervisord of one service of a lake, controlled through a socket that only the user may open."""

    def __init__(self, home: Environment, service: Service) -> None:
        self.home = home
        self.service = service
        self._folder = home.data / "supervisors"
        self.config = self._folder / f"{service.name}.conf"
        self._pidfile = self._folder / f"{service.name}.pid"
        self.socket = self._folder / f"{service.name}.sock"
        if len(str(self.socket)) > SOCKET_PATH_LIMIT:  # then use a private folder below /tmp
            key = hashlib.sha256(str(home.data).encode()).hexdigest()[:12]
            self.socket = Path(tempfile.gettempdir(), f"lake-{os.getuid()}-{key}", self.socket.name)

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
        """The configuration of supervisord, without secrets."""

        def safe(value: object) -> str:
            return str(value).replace("%", "%%")  # supervisord expands %(...)s

        name, program = self.service.name, self.service.program()
        pairs = ",".join(f'{key}="{value}"' for key, value in program.environment.items())
        # It restarts the program forever. A start that fails within startsecs delays the next one by a second more.
        return f"""\
[unix_http_server]
file = {safe(self.socket)}
chmod = 0600

[supervisord]
logfile = {safe(self.home.log(f"{LOG_PREFIX}{name}"))}
logfile_maxbytes = 5MB
logfile_backups = 1
pidfile = {safe(self._pidfile)}
directory = {safe(self.home.data)}
{"user = root" if os.getuid() == 0 else ""}

[rpcinterface:supervisor]
supervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface

[supervisorctl]
serverurl = unix://{safe(self.socket)}

[program:{name}]
command = {safe(shlex.join(program.command))}
directory = {safe(program.folder)}
environment = {safe(pairs)}
autostart = false
autorestart = true
startsecs = 1
startretries = 1000000
stopsignal = {program.stop_signal}
stopasgroup = {str(program.stop_group).lower()}
killasgroup = true
stopwaitsecs = {STOP_WAIT_S}
redirect_stderr = true
stdout_logfile = {safe(self.home.log(name))}
stdout_logfile_maxbytes = 20MB
stdout_logfile_backups = 2
"""

    def start(self) -> None:
        """Starts the service, and its supervisord if needed. Does not wait."""
        if self.pid() is None:
            self._start()
        self._call("startProcess", self.service.name, False, unless=ALREADY_STARTED)

    def _start(self) -> None:
        self.home.logs.mkdir(parents=True, exist_ok=True)
        for folder in {self._folder, self.socket.parent}:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if folder.stat().st_uid != os.getuid():
                raise LakeError("the folder belongs to another user", str(folder), "remove it, or set TMPDIR")
        self.service.program().folder.mkdir(parents=True, exist_ok=True)
        replace_file(self.config, self.render())
        mark = {MARK: str(self.home.data), SERVICE: self.service.name}
        clean = {key: value for key, value in os.environ.items() if not key.startswith(FOREIGN)}
        environment = {**clean, **mark, **self.service.secrets()}
        command = [sys.executable, "-m", "supervisor.supervisord", "-c", str(self.config)]
        run_tool(command, "supervisord did not start", self.config, env=environment, cwd=self.home.data)
        wait_until(self._answers, START_WITHIN_S, self._failed("does not answer"), POLL_S)

    def _answers(self) -> bool:
        try:
            return bool(self._call("getState"))
        except LakeError:
            return False

    def _call(self, method: str, *arguments: Any, unless: int | None = None) -> Any:
        """The answer; None if it is refused with the code `unless`. LakeError without an answer or if refused."""
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
