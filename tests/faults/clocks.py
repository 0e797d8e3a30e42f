"""Clocks that are wrong: one process at a time sees another time of day, by libfaketime. Time spans are right."""

from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path

from lake.local.service import Program, Service
from tests.faults.rig import Rig

LIBRARY = files("libfaketime") / "vendor" / "libfaketime" / "src" / "libfaketime.so.1"


@dataclass
class WrongClock:
    """A process is restarted with a clock that is off by seconds, and with the right one in the end."""

    service: str
    seconds: int
    path: Path = field(init=False)

    @property
    def name(self) -> str:
        return f"clock of {self.service} {self.seconds:+d} s"

    def inject(self, rig: Rig) -> None:
        self.path = rig.home.data / f"clock.{self.service}"
        self.set(self.seconds)
        service = rig.stack.service(self.service)
        service.program = lambda: self._program(service)  # type: ignore[method-assign]
        self._restart(rig)

    def heal(self, rig: Rig) -> None:
        del rig.stack.service(self.service).program
        self._restart(rig)

    def set(self, seconds: int) -> None:
        """From now on, for whoever has this clock."""
        self.path.write_text(f"{seconds:+d}\n")

    def seen(self, rig: Rig) -> bool:
        """Nothing has to be told: nothing depends on it."""
        return True

    def _restart(self, rig: Rig) -> None:
        with rig.lake.meant():
            rig.stack.restart(self.service)

    def _program(self, service: Service) -> Program:
        program: Program = type(service).program(service)
        clock = {
            "LD_PRELOAD": str(LIBRARY),
            "FAKETIME_TIMESTAMP_FILE": str(self.path),
            "FAKETIME_CACHE_DURATION": "1",
            "DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_FORCE_MONOTONIC_FIX": "0",  # with it, each wait of a JVM for a time is over at once
        }
        return replace(program, environment={**program.environment, **clock})
