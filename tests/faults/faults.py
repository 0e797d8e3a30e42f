"""Faults: small classes that break one part, and let it be whole again.

inject() breaks; heal() undoes what hands must undo, which for a killed process is nothing; seen() says whether the
product has noticed, by what it shows its user; of a killed process, by what its supervisor's log says.
"""

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import httpx
import psutil
from py4j.protocol import Py4JJavaError

from lake.clients import stream_status
from lake.clients.stream_control import COMPACT, stream_channel
from lake.local.supervisor import LOG_PREFIX, RUNNING
from tests.faults.rig import Rig
from tests.faults.workload import until

SERVICES = ("connect", "kafka", "registry", "postgres", "s3", "stream", "metastore", "guardian")
BACK_WITHIN_S = 90.0


class Fault(Protocol):
    """What a trial does to a lake."""

    @property
    def name(self) -> str: ...

    def inject(self, rig: Rig) -> None: ...

    def heal(self, rig: Rig) -> None: ...

    def seen(self, rig: Rig) -> bool: ...


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
class Together:
    """Faults in one moment, as when a machine fails."""

    faults: Sequence[Fault]

    @property
    def name(self) -> str:
        return ", ".join(fault.name for fault in self.faults)

    def inject(self, rig: Rig) -> None:
        for fault in self.faults:
            fault.inject(rig)

    @property
    def broke_at(self) -> float | None:
        return ended_at(self.faults[0])

    def heal(self, rig: Rig) -> None:
        for fault in self.faults:
            fault.heal(rig)

    def seen(self, rig: Rig) -> bool:
        return all(fault.seen(rig) for fault in self.faults)


@dataclass
class Series:
    """Faults one after the other, each as soon as the one before is healed."""

    faults: Sequence[Fault]

    @property
    def name(self) -> str:
        return "; ".join(fault.name for fault in self.faults)

    def inject(self, rig: Rig) -> None:
        for fault in self.faults[:-1]:
            fault.inject(rig)
            fault.heal(rig)
        self.faults[-1].inject(rig)

    @property
    def broke_at(self) -> float | None:
        return ended_at(self.faults[-1])

    def heal(self, rig: Rig) -> None:
        self.faults[-1].heal(rig)

    def seen(self, rig: Rig) -> bool:
        return all(fault.seen(rig) for fault in self.faults)


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


@dataclass
class Rewind:
    """Duplicated delivery: the streaming job forgets its last batches, or all, and reads them again."""

    batches: int | None = None  # None: from offset 0
    layers: tuple[str, ...] = ("silver",)
    only: str = ""  # a part of the name

    @property
    def name(self) -> str:
        again = "everything" if self.batches is None else f"the last {self.batches} batches"
        return f"{again} delivered again to {' and '.join(self.layers)}"

    def inject(self, rig: Rig) -> None:
        rig.stack.supervisors["stream"].stop()
        for layer in self.layers:
            for folder in (rig.home.data / "checkpoints" / layer).rglob("offsets"):
                if self.only in str(folder):
                    self._forget(folder)

    def _forget(self, offsets: os.PathLike[str]) -> None:
        folder = os.fspath(offsets)
        numbers = sorted(int(name) for name in os.listdir(folder) if name.isdigit())
        for number in numbers if self.batches is None else numbers[-self.batches :]:
            for part in (folder, os.path.join(os.path.dirname(folder), "commits")):
                for name in (str(number), f".{number}.crc"):
                    path = os.path.join(part, name)
                    if os.path.exists(path):
                        os.remove(path)

    def heal(self, rig: Rig) -> None:
        rig.stack.start("stream")

    def seen(self, rig: Rig) -> bool:
        return True


@dataclass
class SecondConnector:
    """A connector of another name that reads the same slot."""

    database: str
    name = "second connector on one slot"

    def inject(self, rig: Rig) -> None:
        config = httpx.get(f"{self._address(rig, '')}/config", trust_env=False, auth=rig.home.connect_login).json()
        second = {**config, "name": f"{config['name']}_second"}
        httpx.put(
            f"{self._address(rig, '_second')}/config",
            json=second,
            trust_env=False,
            auth=rig.home.connect_login,
            timeout=60,
        )

    def heal(self, rig: Rig) -> None:
        httpx.delete(self._address(rig, "_second"), trust_env=False, auth=rig.home.connect_login, timeout=60)

    def seen(self, rig: Rig) -> bool:
        return any("_second has the topic.prefix" in drift for drift in rig.drifts(self.database))

    def _address(self, rig: Rig, ending: str) -> str:
        return f"{rig.home.connect}/connectors/{rig.connector(self.database)}{ending}"


@dataclass
class EmptyStore:
    """The registry comes back without its schemas, and the streaming job anew, so that it has to ask for them."""

    name = "registry with an empty store"

    def inject(self, rig: Rig) -> None:
        rig.stack.supervisors["registry"].stop()
        rig.execute(
            "postgres",
            "ALTER DATABASE registry RENAME TO registry_kept",
            "CREATE DATABASE registry OWNER registry",
        )
        rig.stack.start("registry")
        rig.lake.run("restart", "stream")

    def heal(self, rig: Rig) -> None:
        rig.stack.supervisors["registry"].stop()
        rig.execute(
            "postgres", "DROP DATABASE registry WITH (FORCE)", "ALTER DATABASE registry_kept RENAME TO registry"
        )
        rig.stack.start("registry")

    def seen(self, rig: Rig) -> bool:
        reasons = [one.get("reason") or "" for one in stream_status.reported(rig.home).values()]
        return any("is not in the registry" in reason for reason in reasons)


@dataclass
class SecondJob:
    """The very command of the streaming job, once more: it must go away by itself and say who writes."""

    name = "second streaming job"

    def inject(self, rig: Rig) -> None:
        self._done = rig.lake.second_job()

    def heal(self, rig: Rig) -> None:
        """It is gone already."""

    def seen(self, rig: Rig) -> bool:
        return self._done.returncode == 1 and "is written by stream local-" in self._done.stdout


@dataclass
class Cleaner:
    """A cleaner that is not the lake's own, as somebody runs it from a session of Spark.

    It makes a metadata table, which the lake's next commit takes away: it may fail of that, its cleaning half done.
    """

    database: str
    name = "somebody's cleaner"

    def inject(self, rig: Rig) -> None:
        for name in (f"{self.database}_cow.account", f"{self.database}_mor.account_rt"):
            try:
                rig.spark.sql(f"CALL run_clean(table => '{name}', retain_commits => 5)").collect()
            except Py4JJavaError as error:
                if "Failed to apply clean commit to metadata" not in str(error.java_exception):
                    raise

    def heal(self, rig: Rig) -> None:
        """It is gone already."""

    def seen(self, rig: Rig) -> bool:
        """It may: what it takes away is the past."""
        return True


def ended_at(fault: Fault) -> float | None:
    """time.monotonic() from which on nobody does anything more: a killed process must come back by itself."""
    moment: float | None = getattr(fault, "broke_at", None)
    return moment


def request_compaction(rig: Rig, name: str) -> None:
    """Once, however often it is called before the streaming job has done it."""
    stream_channel(rig.home).send(f"compact-{name}", {"verb": COMPACT, "arguments": {"table": name}})


def ask_for_services(rig: Rig) -> None:
    """As `lake compact` does, without waiting."""
    for name in stream_status.reported(rig.home):
        if not name.startswith("bronze."):
            request_compaction(rig, name)


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
