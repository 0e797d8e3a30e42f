"""Faults of a network and a disk that are the lake's alone, as apart.sh makes them."""

import os
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.faults.process_faults import BACK_WITHIN_S, unwell
from tests.faults.rig import Rig
from tests.faults.workload import until

LEFT = 1024 * 1024  # bytes that others take while a full disk is made
CUT_RULES = 10  # preference of the first
LOCAL_RULE = 100


@dataclass
class Cut:
    """Drops every packet to and from services without a word: what is connected hangs, half open.

    Done by routing rules, which needs a network namespace of its own (make faults makes one).
    """

    services: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"network cut at {', '.join(self.services)}"

    def inject(self, rig: Rig) -> None:
        # The rule of the local table comes first and would win.
        _ip("rule", "add", "pref", str(LOCAL_RULE), "lookup", "local")
        _ip("rule", "del", "pref", "0")
        for preference, ends in self._rules(rig):
            _ip("rule", "add", "pref", preference, "ipproto", "tcp", *ends, "blackhole")

    def heal(self, rig: Rig) -> None:
        for preference, _ in self._rules(rig):
            _ip("rule", "del", "pref", preference)
        _ip("rule", "add", "pref", "0", "lookup", "local")
        _ip("rule", "del", "pref", str(LOCAL_RULE))

    def seen(self, rig: Rig) -> bool:
        return unwell(rig)

    def _rules(self, rig: Rig) -> list[tuple[str, tuple[str, str]]]:
        ports = [str(getattr(rig.home.ports, service)) for service in self.services]
        ends = [(end, port) for port in ports for end in ("dport", "sport")]
        return [(str(CUT_RULES + number), one) for number, one in enumerate(ends)]


@dataclass
class FullDisk:
    """Takes all the space that is left, for whoever writes to it; needs a disk of its own, too."""

    name = "disk full"

    def inject(self, rig: Rig) -> None:
        with self._ballast(rig).open("wb") as file:
            state = os.statvfs(rig.home.data)
            os.posix_fallocate(file.fileno(), 0, state.f_bavail * state.f_frsize - LEFT)

    def heal(self, rig: Rig) -> None:
        """PostgreSQL ends itself when there is no space for its log, and is started again until there is."""
        self._ballast(rig).unlink()
        until(rig.stack.service("postgres").ready, "PostgreSQL is not back", BACK_WITHIN_S)

    def seen(self, rig: Rig) -> bool:
        return unwell(rig)

    def _ballast(self, rig: Rig) -> Path:
        return rig.home.data / "ballast"


def isolated() -> bool:
    """Whether this is a network namespace with nothing but a loopback: its rules are nobody else's."""
    return os.geteuid() == 0 and [name for _, name in socket.if_nameindex()] == ["lo"]


def own_disk(rig: Rig) -> bool:
    """Whether the lake's file system is there for it alone."""
    disk = os.environ.get("FAULTS_DISK")
    return disk is not None and os.path.ismount(disk) and rig.home.data.resolve().is_relative_to(Path(disk).resolve())


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)
