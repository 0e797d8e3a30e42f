"""The supervisor: supervisord keeps the services running, restarts what dies and holds the logs."""

import hashlib
import os
import shlex
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
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_fixed

from lake.errors import LakeError
from lake.local.home import Home
from lake.local.processes import GONE, MARK
from lake.local.secrets import write_private
from lake.local.service import Program, Service

# A socket path has room for 107 characters, and supervisord adds its pid while it creates it.
SOCKET_PATH_LIMIT = 95
START_WITHIN_S = 10
POLL_S = 0.05
# Settings of the caller's shell that would change what a service does.
FOREIGN = (
    "APICURIO_",
    "AWS_",
    "CLASSPATH",
    "HADOOP_",
    "HIVE_",
    "JAVA_OPTS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "KAFKA_",
    "PG",
    "PYSPARK_",
    "PYTHON",
    "QUARKUS_",
    "ROOT_",
    "SPARK_",
    "VGW_",
)
RUNNING, STOPPED, BACKOFF = "RUNNING", "STOPPED", "BACKOFF"
ALREADY_STARTED, NOT_RUNNING = 60, 70
CONFIG = """\
[unix_http_server]
file = {socket}
chmod = 0600

[supervisord]
logfile = {logs}/supervisord.log
logfile_maxbytes = 5MB
logfile_backups = 1
pidfile = {data}/supervisord.pid
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


@dataclass(frozen=True)
class State:
    """What the supervisor knows of one service; started_at in seconds since 1970, 0 if it never ran."""

    name: str
    state: str
    pid: int
    started_at: int
    reason: str


class Supervisor:
    """supervisord of one lake, spoken to through a socket that only the user may open."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.config = home.data / "supervisord.conf"

    @property
    def socket(self) -> Path:
        """In the data folder, or in a private folder below /tmp where that path is too long."""
        near = self.home.data / "supervisor.sock"
        if len(str(near)) <= SOCKET_PATH_LIMIT:
            return near
        key = hashlib.sha256(str(self.home.data).encode()).hexdigest()[:12]
        return Path(tempfile.gettempdir(), f"lake-{os.getuid()}-{key}", "supervisor.sock")

    def pid(self) -> int | None:
        """The running supervisor of this lake; None if there is none."""
        try:
            pid = int((self.home.data / "supervisord.pid").read_text())
            return pid if str(self.config) in psutil.Process(pid).cmdline() else None
        except (OSError, ValueError, *GONE):
            return None

    def render(self, services: list[Service]) -> str:
        """The configuration of supervisord; holds no secret."""
        user = "user = root\n" if os.getuid() == 0 else ""
        values = {"socket": self.socket, "logs": self.home.logs, "data": self.home.data, "user": user}
        head = CONFIG.format(**{key: _escape(str(value)) for key, value in values.items()})
        return head + "".join(_section(service.name, service.program(), self.home) for service in services)

    def write(self, services: list[Service]) -> None:
        write_private(self.config, self.render(services))

    def start(self, services: list[Service]) -> None:
        """Run supervisord in the background; no service is started yet."""
        self.home.logs.mkdir(parents=True, exist_ok=True)
        self._private_folder()
        self.write(services)
        secrets = {key: value for service in services for key, value in service.secrets().items()}
        command = [sys.executable, "-m", "supervisor.supervisord", "-c", str(self.config)]
        environment = {**_clean_environment(os.environ), MARK: str(self.home.data), **secrets}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=self.home.data)
        if done.returncode != 0:
            reason = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no message"]
            raise LakeError(f"supervisord did not start: {reason[0]}", str(self.config), "run: lake up")
        self._wait()

    def _private_folder(self) -> None:
        folder = self.socket.parent
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder != self.home.data and folder.stat().st_uid != os.getuid():
            raise LakeError("the folder belongs to another user", str(folder), "remove it, or set TMPDIR")

    @retry(
        retry=retry_if_exception_type(LakeError),
        stop=stop_after_delay(START_WITHIN_S),
        wait=wait_fixed(POLL_S),
        reraise=True,
    )
    def _wait(self) -> None:
        self._call("getState")

    def _call(self, method: str, *arguments: Any) -> Any:
        transport = SupervisorTransport(None, None, f"unix://{self.socket}")
        with xmlrpc.client.ServerProxy("http://127.0.0.1", transport=transport) as proxy:
            try:
                return getattr(proxy.supervisor, method)(*arguments)
            except (OSError, xmlrpc.client.ProtocolError) as error:
                raise LakeError(f"the supervisor does not answer ({error})", str(self.socket), "run: lake up") from None

    def states(self) -> dict[str, State]:
        """All services by name."""
        return {item["name"]: _state(item) for item in self._call("getAllProcessInfo")}

    def start_service(self, name: str) -> None:
        """Have it running; no wait, and no error if it runs already."""
        _unless(ALREADY_STARTED, lambda: self._call("startProcess", name, False))

    def stop_service(self, name: str, wait: bool = True) -> None:
        """Have it stopped; no error if it does not run."""
        _unless(NOT_RUNNING, lambda: self._call("stopProcess", name, wait))

    def reload(self, services: list[Service], name: str) -> None:
        """Read one stopped service's program again from what the code says now."""
        self.write(services)
        added, changed, _ = self._call("reloadConfig")[0]
        if name in changed:
            self._call("removeProcessGroup", name)
        if name in added + changed:
            self._call("addProcessGroup", name)

    def shutdown(self) -> None:
        self._call("shutdown")


def _unless(expected: int, call: Any) -> None:
    try:
        call()
    except xmlrpc.client.Fault as fault:
        if fault.faultCode != expected:
            raise LakeError(
                f"the supervisor refuses: {fault.faultString}", "supervisord", "see: lake logs supervisord"
            ) from None


def _state(item: Mapping[str, Any]) -> State:
    return State(item["name"], item["statename"], item["pid"], item["start"], item["spawnerr"] or "")


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
        log=_escape(str(home.logs / f"{name}.log")),
    )


def _escape(text: str) -> str:
    """supervisord expands %(...)s in its configuration."""
    return text.replace("%", "%%")


def _clean_environment(given: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in given.items() if not key.startswith(FOREIGN)}
