"""All services of one lake: started in parallel where they can be, stopped writers first."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager
from pathlib import Path

import psutil

from lake.config import secrets
from lake.config.environment import Environment
from lake.config.errors import BadInput, LakeError
from lake.config.lock import locked
from lake.config.names import refuse_unknown
from lake.local import iam, preflight, processes, scram
from lake.local.connect import Connect
from lake.local.guardian import Guardian
from lake.local.kafka import Kafka
from lake.local.metastore import Metastore
from lake.local.postgres import Postgres
from lake.local.processes import GONE_WITHIN_S
from lake.local.registry import Registry
from lake.local.s3 import S3
from lake.local.sales import submitted
from lake.local.service import Service
from lake.local.stream import Stream
from lake.local.supervisor import STOP_WAIT_S, STOPPED, Supervisor

SERVICES: tuple[type[Service], ...] = (Postgres, Kafka, Connect, Metastore, Registry, S3, Stream, Guardian)
# If the broker ends while Connect still has tasks, both wait for half a minute.
STOP_FIRST = ("guardian", "stream", "connect")
POLL_S = 0.2
BUSY = "another lake command is starting or stopping this lake"
ENDED_WITHIN_S = STOP_WAIT_S + 4.0  # supervisord checks once a second what it has killed
LOG_LINES = 3

# Called for each step: service, what happened, seconds since the start.
StepReport = Callable[[str, str, float], None]


class Stack:
    """All services of one lake."""

    def __init__(self, home: Environment, report: StepReport = lambda *_: None) -> None:
        self.home = home
        self.report = report
        jobs = submitted(home)
        self.services: list[Service] = [*(service(home) for service in SERVICES), *jobs]
        self._first = (*(job.name for job in jobs), *STOP_FIRST)
        self.supervisors = {service.name: Supervisor(home, service) for service in self.services}
        self._began = time.monotonic()
        self._given_up = threading.Event()

    def service(self, name: str) -> Service:
        """BadInput with the existing services if there is none of that name."""
        refuse_unknown("service", [name], list(self.supervisors))
        return self.supervisors[name].service

    def runs(self) -> bool:
        """True if any service has a running supervisor."""
        return any(supervisor.pid() is not None for supervisor in self.supervisors.values())

    def lost(self) -> list[str]:
        """The services that should run and have no supervisor."""
        return [one.name for one in self.services if one.wanted() and self.supervisors[one.name].pid() is None]

    def up(self) -> bool:
        """Starts every service and waits for its answer. False if all of them ran already."""
        if self.lost():
            preflight.check(self.home, self.services, {process.pid for process in self._processes()})
        with _alone(self.home):
            secrets.load_or_create(self.home.secrets_path)
            iam.establish(self.home)
            scram.establish(self.home)
            return self._start([service for service in self.services if service.wanted()])

    def revive(self) -> bool:
        """Starts the services that lost their supervisors. False if none did, or the lake is down."""
        with _alone(self.home):
            lost = self.lost()
            if not (lost and self._processes()):
                return False
            return self._start([self.service(name) for name in lost])

    def _stop_orphans(self, names: Sequence[str]) -> None:
        """Ends the processes of services that have no supervisor."""
        orphans = [process for process in self._processes() if processes.service_of(process) in names]
        if orphans:
            processes.stop_orphans(orphans, GONE_WITHIN_S)
            left = f"{len(orphans)} processes ({', '.join(processes.names(orphans))})"
            self._say(", ".join(names), f"its supervisor was killed; stopped what was left: {left}")

    def _start(self, services: list[Service]) -> bool:
        """Starts services in parallel; each waits only for the services that it needs. Raises the first failure."""
        started: dict[str, Future[bool]] = {}
        with ThreadPoolExecutor(max_workers=len(services)) as pool:
            try:
                for service in sorted(services, key=lambda item: len(item.needs)):
                    needed = [started[name] for name in service.needs if name in started]
                    started[service.name] = pool.submit(self._start_one, service, needed)
                idle = [future.result() for future in as_completed(started.values())]
                return any(idle)
            except BaseException:
                self._given_up.set()
                raise

    def _start_one(self, service: Service, needed: Sequence["Future[bool]"] = ()) -> bool:
        """Starts one service and waits for its answer. False if its process existed already."""
        for future in needed:
            future.result()
        supervisor = self.supervisors[service.name]
        idle = supervisor.state().pid == 0
        if idle:
            # Nothing may start the service while prepare removes files of the ended server.
            self._end([service.name])
            for line in service.prepare():
                self._say(service.name, line)
            supervisor.start()
        wait_for_answer(service, supervisor, self.home.log(service.name), self._given_up)
        service.initialise()
        if idle:
            self._say(service.name, service.arrived)
        return idle

    def down(self) -> bool:
        """Stops everything, writers first. False if nothing ran. No process of this lake is left."""
        if not self._processes():
            return False
        with _alone(self.home):
            self._end(self._first)
            self._end([name for name in self.supervisors if name not in self._first])
            processes.stop(self._processes(), GONE_WITHIN_S)
        for supervisor in self.supervisors.values():
            supervisor.forget_socket()
        return True

    def _end(self, names: Sequence[str]) -> None:
        """Stops services and their supervisors, and processes without one."""
        self._stop(names)
        supervisors = [process for name in names if (process := self.supervisors[name].process())]
        processes.stop(supervisors, GONE_WITHIN_S)
        self._stop_orphans(names)

    def _stop(self, names: Sequence[str]) -> None:
        """Stops services in parallel."""
        left = {name for name in names if self.supervisors[name].state().pid}
        for name in names:  # a service that ends at once has no process now, and would be started again
            self.supervisors[name].stop(wait=False)
        end = time.monotonic() + ENDED_WITHIN_S
        while left and time.monotonic() < end:
            for name in sorted(left):
                if self.supervisors[name].state().pid == 0:
                    left.remove(name)
                    self._say(name, "stopped")
            time.sleep(POLL_S / 4)

    def start(self, name: str) -> None:
        """Restarts one service with the program that the code describes now, and waits for its answer."""
        service = self.service(name)
        with _alone(self.home):
            self._end([name])
            if service.wanted():
                self._start_one(service)

    def stop(self, name: str) -> None:
        """Stops one service and its supervisor, and returns once no process of it is left."""
        self.service(name)
        with _alone(self.home):
            self._end([name])

    def start_if_idle(self, name: str) -> None:
        """start(), unless the lake is down or the service is up already."""
        if self.runs() and self.supervisors[name].state().pid == 0:
            self.start(name)

    def restart(self, name: str) -> None:
        """Stops and starts one service; the others keep running. BadInput if the lake is down."""
        self.service(name)
        if not self.runs():
            raise BadInput("this lake does not run", str(self.home.data), "run: lake up")
        self.start(name)

    def _processes(self) -> list[psutil.Process]:
        return processes.of_lake(self.home.data)

    def _say(self, name: str, what: str) -> None:
        self.report(name, what, time.monotonic() - self._began)


def _alone(home: Environment) -> AbstractContextManager[None]:
    """One command at a time starts or stops a lake."""
    return locked(home.lock, BUSY)


def _tail(log: Path) -> str:
    """The last lines of a log, on one line."""
    try:
        lines = log.read_text(errors="replace").splitlines()
    except OSError:
        return "it has no log"
    return " | ".join(line.strip() for line in lines[-LOG_LINES:]) or "its log is empty"


def wait_for_answer(service: Service, supervisor: Supervisor, log: Path, given_up: threading.Event) -> None:
    """Until the service answers; LakeError with the end of its log if it does not, or cannot start."""
    end = time.monotonic() + service.ready_within_s
    while not answers(service):
        if supervisor.state().state == STOPPED or time.monotonic() > end:
            what = f"{service.name} does not answer after {service.ready_within_s:.0f} s: {_tail(log)}"
            raise LakeError(what, str(log), f"see: lake logs {service.name}")
        if given_up.wait(POLL_S):
            raise LakeError(f"the start of {service.name} was interrupted", "lake up", "run: lake up")


def answers(service: Service) -> bool:
    """True if the service answers. LakeError if it refuses this lake."""
    return (service.port is None or not preflight.free(service.port)) and service.ready()
