"""What a fault is, and several faults together or one after the other.

inject() breaks; heal() undoes what hands must undo, which for a killed process is nothing; seen() says whether the
product has noticed, by what it shows its user; of a killed process, by what its supervisor's log says.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tests.faults.rig import Rig


class Fault(Protocol):
    """What a trial does to a lake."""

    @property
    def name(self) -> str: ...

    def inject(self, rig: Rig) -> None: ...

    def heal(self, rig: Rig) -> None: ...

    def seen(self, rig: Rig) -> bool: ...


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


def ended_at(fault: Fault) -> float | None:
    """time.monotonic() from which on nobody does anything more: a killed process must come back by itself."""
    moment: float | None = getattr(fault, "broke_at", None)
    return moment
