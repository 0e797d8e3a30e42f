"""A lake as its operator sees it, the same for every environment."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

Say = Callable[[str], None]


@dataclass(frozen=True)
class Item:
    """Something that stands: where it is, of what kind, its name, and what is lost with it ("" nothing).

    stays: the environment says that it outlives the lake.
    """

    where: str
    kind: str
    name: str
    lost: str = ""
    stays: bool = False


class Place(Protocol):
    """One lake. Everything can be called again at any time: what is done already is found done."""

    name: str
    protected: bool

    def standing(self) -> list[Item]:
        """All that there is of the lake, down to nothing."""

    def keeps(self, item: Item, keep_data: bool) -> bool:
        """Whether a teardown leaves this standing on purpose."""

    def demolish(self, keep_data: bool, say: Say) -> None:
        """Takes the lake down in an order in which no data are lost that shall stay."""

    def check_build(self) -> None:
        """BadInput when the lake could not be built: asked before anything is deleted."""

    def build(self, say: Say) -> None:
        """Deploys and loads; returns once every table holds every row."""

    def verify(self, names: list[str], timeout_s: float, say: Say) -> dict[str, Any]:
        """The result of spark_jobs/verify.py."""

    def rebuilding(self) -> bool:
        """Whether a rebuild has begun, and got past its teardown, but did not end."""

    def mark_rebuilding(self, on: bool) -> None:
        """Remembers it, outside of what a teardown deletes."""
