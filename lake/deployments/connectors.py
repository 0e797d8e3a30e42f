"""The connectors of a lake: their differences from the definition, and the connectors of this machine."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from lake.clients.connect import Connect, validate
from lake.clients.reconcile import VERBS
from lake.config.definition import Database
from lake.config.environment import Environment
from lake.config.errors import in_the_middle
from lake.sources.connector import source_connector

Ask = Callable[[str], dict[str, Any]]  # a verb of reconcile.VERBS; its result by connector
Pair = Mapping[str, Any]  # "running": the settings of a connector, None without one; "defined"


@dataclass(frozen=True)
class Difference:
    """One setting that differs. None on the side that does not have it."""

    connector: str
    key: str
    running: str | None
    defined: str | None


def local_connectors(home: Environment, databases: Sequence[Database]) -> Ask:
    """A function that sends a verb to Connect of this machine."""
    connect = Connect(home)
    defined = {one.connector: source_connector(one, home) for one in databases}

    def ask(verb: str) -> dict[str, Any]:
        if verb == "apply":
            validate(connect, defined)
        with in_the_middle("lake connectors apply") if verb == "apply" else nullcontext():
            return VERBS[verb](connect, defined)

    return ask


def differences(found: Mapping[str, Pair]) -> list[Difference]:
    """All settings that differ, by connector and key."""
    return [one for name, pair in found.items() for one in _differing(name, pair)]


def _differing(name: str, pair: Pair) -> Iterator[Difference]:
    now, defined = pair["running"] or {}, pair["defined"]
    for key in sorted(now.keys() | defined.keys()):
        if now.get(key) != defined.get(key):
            yield Difference(name, key, now.get(key), defined.get(key))
