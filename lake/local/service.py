"""The shape that every local service shares: what it needs, how it is prepared, run and known to be ready."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path

from lake.config.home import Home


@dataclass(frozen=True)
class Program:
    """What a supervisor runs: arguments and environment hold no secret."""

    command: list[str]
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    stop_signal: str = "TERM"
    stop_group: bool = True


class Service(ABC):
    """One process that a supervisor keeps."""

    name: str
    needs: tuple[str, ...] = ()
    ready_within_s: float = 180.0
    arrived: str = "ready"  # what is said of it then

    def __init__(self, home: Home) -> None:
        self.home = home
        self.folder = home.data / self.name

    @property
    def port(self) -> int | None:
        """Where it listens, if it does; nothing is asked of it before."""
        return getattr(self.home.ports, self.name, None)

    def parts(self) -> list[Path]:
        """Files and folders of the build that must be there before anything starts."""
        return []

    def secrets(self) -> dict[str, str]:
        """Environment variables with secrets, inherited through its supervisor."""
        return {}

    def wanted(self) -> bool:
        """Whether the service has something to do."""
        return True

    def prepare(self) -> list[str]:
        """Make the process startable; returns a line for each thing a crash had left."""
        return []

    @abstractmethod
    def program(self) -> Program:
        """What its supervisor runs."""

    @abstractmethod
    def ready(self) -> bool:
        """One cheap question to the service itself: does it answer? Never raises for 'not yet'."""

    def initialise(self) -> None:  # noqa: B027 - most services need nothing
        """What is created inside the running service; again at each `lake up`, so twice is as once."""
