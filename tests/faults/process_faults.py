"""Faults of processes: killed, suspended, stopped or restarted."""

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from lake.local.supervisor import LOG_PREFIX, RUNNING
from tests.faults.faults import Together
from tests.faults.rig import Rig
from tests.faults.service_requests import ask_for_services
from tests.faults.workload import until

SERVICES = ("connect", "kafka", "registry", "postgres", "s3", "stream", "metastore", "guardian")
BACK_WITHIN_S = 90.0


@dataclass
class Kill:
    """kill -9, or another signal; its supervisor must start it again."""

    service: str
    signal: int = signal.SIGKILL
    services: bool = False  # compaction, cleaning and archiving are asked for before
    after_s: float = 0.0

    @property
    def name(self) -> str:
        return f"{signal.Signals(self.signal).name} {self.service}"

    def inject(self, rig: Rig) -> None:
        if self.services:
            ask_for_services(rig)
        time.sleep(self.after_s)
        self._pid = pid_of(rig, self.service)
        self._logged = self._log(rig).stat().st_size
        self.broke_at = time.monotonic()
        os.kill(self._pid, self.signal)

    def heal(self, rig: Rig) -> None:
        until(lambda: is_back(rig, self.service, self._pid), f"{self.service} is not back", BACK_WITHIN_S)

    def seen(self, rig: Rig) -> bool:
        with self._log(rig).open() as log:
            log.seek(self._logged)
            return any(f"exited: {self.service} " in line for line in log)

    def _log(self, rig: Rig) -> Path:
        return rig.home.log(LOG_PREFIX + self.service)


def all_but_the_source() -> "Together":
    """kill -9 of every process that a service keeps, in one moment."""
    return Together([Kill(service) for service in SERVICES if service != "postgres"])


@dataclass
class KillSupervisors:
    """kill -9 of what brings services back, of all in one moment; the guardian must see to it."""

    services: Sequence[str] = SERVICES

    @property
    def name(self) -> str:
        return f"SIGKILL supervisor of {', '.join(self.services) if self.services != SERVICES else 'every service'}"

    def inject(self, rig: Rig) -> None:
        self._pids = {service: rig.stack.supervisors[service].pid() for service in self.services}
        assert None not in self._pids.values(), self._pids
        self.broke_at = time.monotonic()
        for pid in self._pids.values():
            os.kill(pid or 0, signal.SIGKILL)

    def heal(self, rig: Rig) -> None:
        until(lambda: self.seen(rig), "a supervisor is not back", BACK_WITHIN_S)
        until(lambda: _all_run(rig), "what they keep is not back", 2 * BACK_WITHIN_S, every_s=1)

    def seen(self, rig: Rig) -> bool:
        """Whether each has a successor."""
        return all(rig.stack.supervisors[service].pid() not in (None, pid) for service, pid in self._pids.items())


@dataclass
class Pause:
    """SIGSTOP of a process and its children, SIGCONT later."""

    service: str

    @property
    def name(self) -> str:
        return f"SIGSTOP {self.service}"

    def inject(self, rig: Rig) -> None:
        root = psutil.Process(pid_of(rig, self.service))
        self._processes = [root, *root.children(recursive=True)]
        for process in self._processes:
            process.suspend()

    def heal(self, rig: Rig) -> None:
        for process in self._processes:
            if process.is_running():
                process.resume()

    def seen(self, rig: Rig) -> bool:
        return unwell(rig)


@dataclass
class Stall(Pause):
    """A service that tables are written through, stopped for so long that they fall behind."""

    @property
    def name(self) -> str:
        return f"{super().name} until the tables are behind"

    def seen(self, rig: Rig) -> bool:
        return "behind" in {one["state"] for one in rig.lake.json("status")["tables"]}


@dataclass
class Stop:
    """Stopped in order, and started by hand."""

    service: str

    @property
    def name(self) -> str:
        return f"stop {self.service}"

    def inject(self, rig: Rig) -> None:
        rig.stack.supervisors[self.service].stop()

    def heal(self, rig: Rig) -> None:
        rig.stack.start(self.service)

    def seen(self, rig: Rig) -> bool:
        return unwell(rig)


@dataclass
class Restart:
    """Stopped and started in one go."""

    service: str

    @property
    def name(self) -> str:
        return f"restart {self.service}"

    def inject(self, rig: Rig) -> None:
        rig.lake.run("restart", self.service)

    def heal(self, rig: Rig) -> None:
        """It is up already."""

    def seen(self, rig: Rig) -> bool:
        return True


def pid_of(rig: Rig, service: str) -> int:
    """Of a service that runs: a signal to pid 0 would end this process and its relatives."""
    pid = rig.stack.supervisors[service].state().pid
    assert pid > 0, f"{service} does not run"
    return pid


def is_back(rig: Rig, service: str, before: int) -> bool:
    """Another process of the service answers."""
    state = rig.stack.supervisors[service].state()
    return state.state == RUNNING and state.pid not in (0, before) and rig.stack.service(service).ready()


def unwell(rig: Rig) -> bool:
    """Whether `lake status` says that something is wrong."""
    return rig.lake.run("status", "--json", check=False).returncode != 0


def _all_run(rig: Rig) -> bool:
    return all(service["state"] == "running" for service in rig.lake.services().values())
