"""The services in order: what starts beside what, what stops first."""

import shutil
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager
from pathlib import Path

import psutil

from lake.errors import BadInput, LakeError
from lake.local import preflight, processes, secrets
from lake.local.connect import Connect
from lake.local.guardian import Guardian
from lake.local.home import Home
from lake.local.kafka import Kafka
from lake.local.lock import locked
from lake.local.metastore import Metastore
from lake.local.postgres import Postgres
from lake.local.processes import GONE_WITHIN_S
from lake.local.registry import Registry
from lake.local.s3 import S3
from lake.local.service import Service
from lake.local.stream import Stream
from lake.local.supervisor import STOPPED, State, Supervisor

SERVICES: tuple[type[Service], ...] = (Postgres, Kafka, Connect, Metastore, Registry, S3, Stream, Guardian)
# A broker that goes while Connect still has tasks keeps both waiting for half a minute.
STOP_FIRST = ("guardian", "stream", "connect")
POLL_S = 0.2
LOG_LINES = 3

# Told of each step: service, what happened, seconds since the start.
Report = Callable[[str, str, float], None]


def silent(service: str, what: str, seconds: float) -> None:
    """A report that goes nowhere."""


class Stack:
    """All services of one lake."""

    def __init__(self, home: Home, report: Report = silent) -> None:
        self.home = home
        self.report = report
        self.services = [service(home) for service in SERVICES]
        self.supervisor = Supervisor(home)
        self._began = time.monotonic()
        self._given_up = threading.Event()

    def service(self, name: str) -> Service:
        """BadInput names the services there are."""
        for service in self.services:
            if service.name == name:
                return service
        names = ", ".join(service.name for service in self.services)
        raise BadInput(f"there is no service '{name}'", "command line", f"choose one of: {names}")

    def up(self) -> bool:
        """Have every service running and answering; False if all of them already were."""
        if self.supervisor.pid() is None:
            preflight.check(self.home, self.services, {process.pid for process in self._processes()})
        with self._alone():
            if self.supervisor.pid() is None:
                self._start_supervisor()
            return self._start([service for service in self.services if service.wanted()])

    def _start_supervisor(self) -> None:
        orphans = self._processes()
        if orphans:
            left = f"{len(orphans)} processes ({', '.join(processes.names(orphans))})"
            processes.stop_orphans(orphans, GONE_WITHIN_S)
            self._say("supervisor", f"was killed; stopped what it left behind: {left}")
        secrets.load_or_create(self.home.environment.secrets_path)
        self.supervisor.start(self.services)

    def _start(self, services: list[Service]) -> bool:
        """Start in parallel; a service waits only for those it needs. The first failure is raised."""
        started: dict[str, Future[bool]] = {}
        with ThreadPoolExecutor(max_workers=len(services)) as pool:
            try:
                for service in sorted(services, key=lambda item: len(item.needs)):
                    needed = [started[name] for name in service.needs]
                    started[service.name] = pool.submit(self._start_one, service, needed)
                idle = [future.result() for future in as_completed(started.values())]
                return any(idle)
            except BaseException:
                self._given_up.set()
                raise

    def _start_one(self, service: Service, needed: Sequence["Future[bool]"] = ()) -> bool:
        """Have one service running and answering; False if its process was there already."""
        for future in needed:
            future.result()
        idle = self._state(service.name).pid == 0
        if idle:
            # Nothing may start it while prepare cleans up: what it removes would be a running server's.
            self.supervisor.stop_service(service.name)
            for line in service.prepare():
                self._say(service.name, line)
            self.supervisor.start_service(service.name)
        self._wait(service)
        service.initialise()
        if idle:
            self._say(service.name, service.arrived)
        return idle

    def _wait(self, service: Service) -> None:
        """Until the service answers; LakeError with the end of its log if it does not, or cannot start."""
        end = time.monotonic() + service.ready_within_s
        while not answers(service):
            if self._state(service.name).state == STOPPED or time.monotonic() > end:
                raise LakeError(
                    f"{service.name} does not answer after {service.ready_within_s:.0f} s: {self.tail(service.name)}",
                    str(self.log(service.name)),
                    f"see: lake logs {service.name}",
                )
            if self._given_up.wait(POLL_S):
                raise LakeError(f"{service.name} was not waited for", "lake up", "run: lake up")

    def _state(self, name: str) -> State:
        return self.supervisor.states()[name]

    def down(self) -> bool:
        """Stop everything, writers first; False if nothing ran. Leaves no process of this lake."""
        if not self._processes():
            return False
        with self._alone():
            if self.supervisor.pid() is not None:
                self._stop_services()
            processes.stop(self._processes(), GONE_WITHIN_S)
        if self.supervisor.socket.parent != self.home.data:
            shutil.rmtree(self.supervisor.socket.parent, ignore_errors=True)
        return True

    def _stop_services(self) -> None:
        rest = [service.name for service in self.services if service.name not in STOP_FIRST]
        for names in (list(STOP_FIRST), rest):
            for name in names:
                self.supervisor.stop_service(name, wait=False)
            self._await_stop(names)
        self.supervisor.shutdown()
        self._await_end()

    def _await_stop(self, names: list[str]) -> None:
        left = set(names)
        end = time.monotonic() + GONE_WITHIN_S
        while left and time.monotonic() < end:
            states = self.supervisor.states()
            for name in sorted(left):
                if states[name].pid == 0:
                    left.remove(name)
                    self._say(name, "stopped")
            time.sleep(POLL_S / 4)

    def _await_end(self) -> None:
        end = time.monotonic() + GONE_WITHIN_S
        while self.supervisor.pid() is not None and time.monotonic() < end:
            time.sleep(POLL_S / 4)

    def start(self, name: str) -> None:
        """Have one service running and answering, with the program that the code describes now."""
        service = self.service(name)
        with self._alone():
            self.supervisor.reload(self.services, name)
            if service.wanted():
                self._start_one(service)

    def start_if_idle(self, name: str) -> None:
        """start(), unless the lake is down or the service is up already."""
        if self.supervisor.pid() is not None and self._state(name).pid == 0:
            self.start(name)

    def restart(self, name: str) -> None:
        """Stop and start one service; the others keep running."""
        self.service(name)
        if self.supervisor.pid() is None:
            raise BadInput("this lake does not run", str(self.home.data), "run: lake up")
        self.supervisor.stop_service(name)
        self._say(name, "stopped")
        self.start(name)

    def log(self, name: str) -> Path:
        """Where the supervisor keeps what a service prints."""
        return self.home.logs / f"{name}.log"

    def tail(self, name: str) -> str:
        """The last lines of a service's log, on one line."""
        try:
            lines = self.log(name).read_text(errors="replace").splitlines()
        except OSError:
            return "it has no log"
        return " | ".join(line.strip() for line in lines[-LOG_LINES:]) or "its log is empty"

    def _processes(self) -> list[psutil.Process]:
        return processes.of_lake(self.home.data)

    def _say(self, name: str, what: str) -> None:
        self.report(name, what, time.monotonic() - self._began)

    def _alone(self) -> AbstractContextManager[None]:
        """One command at a time starts or stops this lake."""
        return locked(self.home.data / "lock", "another lake command is starting or stopping this lake")


def answers(service: Service) -> bool:
    """Whether a service that runs also does its work; LakeError when it refuses this lake."""
    return (service.port is None or not preflight.free(service.port)) and service.ready()
