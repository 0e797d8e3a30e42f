"""What earlier captures left in the servers that the lake knows: nothing that runs is invisible."""

from collections.abc import Iterator
from contextlib import suppress

from lake.config.definition import Database
from lake.config.environment import Environment
from lake.config.errors import LakeError
from lake.config.source import SourceServer
from lake.sources.drift import Drift
from lake.sources.engines import ENGINES


def of_servers(home: Environment, known: list[Database]) -> list[Drift]:
    """known: all that is captured. A server that does not answer is left out."""
    found = []
    for source, databases in _servers(known).items():
        with suppress(LakeError):
            found += list(_of_server(home, source, databases))
    return found


def _servers(known: list[Database]) -> dict[SourceServer | None, list[str]]:
    """The captured databases by server; that of the lake itself is always known."""
    found: dict[SourceServer | None, list[str]] = {None: []}
    for one in known:
        same = next(
            (source for source in found if source and one.source and source.place == one.source.place), one.source
        )
        found.setdefault(same, []).append(one.database)
    return found


def _of_server(home: Environment, source: SourceServer | None, databases: list[str]) -> Iterator[Drift]:
    for engine in ENGINES.values():
        if engine.leftovers:
            yield from engine.leftovers.leftovers(home, source, databases)
