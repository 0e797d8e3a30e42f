"""The connectors of a lake: how they differ from the definition, and the verbs that they understand."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from lake.clients.connect import Connect, validate
from lake.clients.reconcile import VERBS
from lake.config.definition import Database
from lake.config.errors import in_the_middle
from lake.config.home import Home
from lake.deployments.deployment import Pair
from lake.sources.connector import source_connector

Ask = Callable[[str], dict[str, Any]]


@dataclass(frozen=True)
class Difference:
    """One setting that differs. None on the side that does not have it."""

    connector: str
    key: str
    running: str | None
    defined: str | None


class AskedConnectors:
    """Connectors that ask(verb) reaches, wherever Connect runs. The verbs are those of reconcile.VERBS."""

    def __init__(self, names: Sequence[str], ask: Ask) -> None:
        self._names, self._ask = list(names), ask

    def settings(self) -> dict[str, Pair]:
        return {name: Pair(**one) for name, one in self._ask("settings").items()}

    def apply(self) -> dict[str, Pair]:
        return {name: Pair(**one) for name, one in self._ask("apply").items()}

    def statuses(self) -> dict[str, dict[str, Any]]:
        return self._ask("status")

    def tell(self, verb: str) -> list[str]:
        self._ask(verb)
        return self._names


def local_connectors(home: Home, databases: Sequence[Database]) -> AskedConnectors:
    """Connect of this machine, asked directly."""
    connect = Connect(home.connect)
    defined = {one.connector: source_connector(one, home.environment) for one in databases}

    def ask(verb: str) -> dict[str, Any]:
        if verb == "apply":
            validate(connect, defined)
        with in_the_middle("lake connectors apply") if verb == "apply" else nullcontext():
            return VERBS[verb](connect, defined)

    return AskedConnectors(list(defined), ask)


def differences(found: Mapping[str, Pair]) -> list[Difference]:
    """All settings that differ, by connector and key."""
    return [one for name, pair in found.items() for one in _differing(name, pair)]


def _differing(name: str, pair: Pair) -> Iterator[Difference]:
    now = pair.running or {}
    for key in sorted(now.keys() | pair.defined.keys()):
        if now.get(key) != pair.defined.get(key):
            yield Difference(name, key, now.get(key), pair.defined.get(key))
