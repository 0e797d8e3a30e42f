"""What the account was asked and had no true answer for."""

import traceback
from dataclasses import dataclass, field


@dataclass
class Journal:
    """A test run is good only if both lists are empty, but for what a test provoked on purpose and took out."""

    unknown: list[str] = field(default_factory=list)  # calls, types and properties that are not emulated
    crashes: list[str] = field(default_factory=list)  # faults of the emulator itself

    def crash(self, error: Exception, during: str = "a deployment") -> None:
        self.crashes.append(f"{during}\n{''.join(traceback.format_exception(error))}")

    def take(self) -> list[str]:
        """All entries, which are then forgotten."""
        taken = [*self.unknown, *self.crashes]
        self.unknown.clear()
        self.crashes.clear()
        return taken
