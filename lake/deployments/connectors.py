"""The connectors of a lake: what runs, what should, and what one can tell them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from lake.clients.connect import Connect
from lake.config.definition import Database
from lake.config.errors import in_the_middle
from lake.config.home import Home
from lake.rendering.connector import source_connector

Settings = Mapping[str, str]
Status = dict[str, Any]


@dataclass(frozen=True)
class Pair:
    """The settings of one connector; running is None where there is none."""

    running: Settings | None
    defined: Settings


@dataclass(frozen=True)
class Drift:
    """One setting that differs; None where a side lacks it."""

    connector: str
    key: str
    running: str | None
    defined: str | None


class Connectors(Protocol):
    """Those of some databases of one lake, by name."""

    def settings(self) -> dict[str, Pair]:
        """What runs beside what is defined."""

    def apply(self) -> dict[str, Pair]:
        """Makes what runs as defined, once Connect has checked all of it; what there was before."""

    def statuses(self) -> dict[str, Status]:
        """As Connect.status, {} where there is none."""

    def tell(self, verb: str) -> list[str]:
        """restart (with all tasks), pause or resume; the names of those that were told."""


class LocalConnectors:
    """Connect of this machine, asked directly."""

    def __init__(self, home: Home, databases: Sequence[Database]) -> None:
        self._connect = Connect(home.connect)
        self._defined = {one.connector: source_connector(one, home.environment) for one in databases}

    def settings(self) -> dict[str, Pair]:
        return {name: Pair(self._connect.config(name), defined) for name, defined in self._defined.items()}

    def apply(self) -> dict[str, Pair]:
        found = self.settings()
        changing = [pair.defined for pair in found.values() if pair.running != pair.defined]
        for settings in changing:
            self._connect.validate(dict(settings))
        with in_the_middle("lake connectors apply"):
            for settings in changing:
                self._connect.put(dict(settings))
        return found

    def statuses(self) -> dict[str, Status]:
        return {name: self._connect.status(name) for name in self._defined}

    def tell(self, verb: str) -> list[str]:
        for name in self._defined:
            self._connect.tell(name, verb)
        return list(self._defined)


def drift(found: Mapping[str, Pair]) -> list[Drift]:
    """What differs, connector by connector and key by key."""
    return [one for name, pair in found.items() for one in _differing(name, pair)]


def _differing(name: str, pair: Pair) -> Iterable[Drift]:
    now = pair.running or {}
    for key in sorted(now.keys() | pair.defined.keys()):
        if now.get(key) != pair.defined.get(key):
            yield Drift(name, key, now.get(key), pair.defined.get(key))
