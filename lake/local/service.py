"""The base of every local service: its needs, its preparation, its program, and its check."""

import subprocess
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lake.config.environment import Environment
from lake.config.errors import LakeError


@dataclass(frozen=True)
class Program:
    """The program that a supervisor runs. Its arguments and its environment contain no secret."""

    command: list[str]
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    stop_signal: str = "TERM"
    stop_group: bool = True


def run_tool(command: list[str], what: str, where: Path, now: str = "run: lake up", **options: Any) -> str:
    """The output of a program that ends by itself. LakeError with its last line if it fails."""
    done: subprocess.CompletedProcess[str] = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        reason = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no message"]
        raise LakeError(f"{what}: {reason[0]}", str(where), now)
    return done.stdout


class Service(ABC):
    """One process that a supervisor keeps."""

    name: str
    needs: tuple[str, ...] = ()
    ready_within_s: float = 180.0
    arrived: str = "ready"  # the report once it is ready

    def __init__(self, home: Environment) -> None:
        self.home = home
        self.folder = home.data / self.name

    @property
    def port(self) -> int | None:
        """The port on which it listens, if any. ready() is called only if the port is open."""
        return getattr(self.home.ports, self.name, None)

    def parts(self) -> list[Path]:
        """Files and folders of the build that must be there before anything starts."""
        return []

    def secrets(self) -> dict[str, str]:
        """Environment variables with secrets, inherited through its supervisor."""
        return {}

    def wanted(self) -> bool:
        """True if the service has something to do."""
        return True

    def prepare(self) -> list[str]:
        """Prepares the start. Returns a line for each remainder of a crash that was removed."""
        return []

    @abstractmethod
    def program(self) -> Program:
        """What its supervisor runs."""

    @abstractmethod
    def ready(self) -> bool:
        """True if the service answers a cheap request. False, not an error, while it starts."""

    def initialise(self) -> None:  # noqa: B027 - most services need nothing
        """Creates what belongs inside the running service. Runs at each `lake up`, so it must be idempotent."""
