"""Slots and publications of the lake that no definition knows: a slot keeps the log of its server for nobody."""

from collections.abc import Iterable, Iterator

from lake.config.environment import Environment
from lake.config.errors import LakeError
from lake.config.naming import capture_name
from lake.config.source import SourceServer
from lake.sources.drift import Drift
from lake.sources.postgres.connection import connect_server
from lake.sources.postgres.preparation import literal, name

MAINTENANCE = "postgres"
SLOTS = "SELECT slot_name::text FROM pg_replication_slots WHERE slot_name = ANY (%s) ORDER BY 1"
DATABASES = (
    "SELECT datname::text FROM pg_database"
    " WHERE datallowconn AND NOT datistemplate AND has_database_privilege(oid, 'CONNECT') ORDER BY 1"
)
PUBLICATION = "SELECT EXISTS (SELECT FROM pg_publication WHERE pubname = %s)"
WHY = "nothing defines it"
RESTORE = "restore databases/{}.yaml, or:"


def leftovers(environment: Environment, source: SourceServer | None, known: Iterable[str]) -> Iterator[Drift]:
    """What is left on one server. known: the databases of the server that are captured."""
    place, captured = source.place if source else "the server of the lake", set(known)
    with connect_server(environment, source, MAINTENANCE) as connection:
        every = [row[0] for row in connection.execute(DATABASES.encode())]
        others = {capture_name(one): one for one in every if one not in captured}
        slots = [row[0] for row in connection.execute(SLOTS.encode(), [list(others)])]
    for slot in slots:
        what = f"slot {slot} of {place} keeps the log of the server, and {WHY}"
        drop = f"SELECT pg_drop_replication_slot({literal(slot)})"
        yield Drift(others[slot], "", what, f"{RESTORE.format(others[slot])} {drop}")
    for database in others.values():
        yield from _publications(environment, source, database, place)


def _publications(environment: Environment, source: SourceServer | None, database: str, place: str) -> Iterator[Drift]:
    publication = capture_name(database)
    try:
        with connect_server(environment, source, database) as connection:
            (found,) = connection.execute(PUBLICATION.encode(), [publication]).fetchone() or (False,)
    except LakeError:
        return  # that database admits nobody
    if found:
        what = f"publication {publication} of {place} is there, and {WHY}"
        yield Drift(database, "", what, f"{RESTORE.format(database)} DROP PUBLICATION {name(publication)}")
