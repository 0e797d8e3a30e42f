"""The day of a lake on a broker that asks for a login: what tests of two kinds of login have in common."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.running_lake import RunningLake

ARTISTS = {"key": ["artist_id"], "partition": "nationality"}
EXHIBITIONS = {"key": ["exhibition_id"], "on_bad_message": "quarantine"}
CHANGES = (
    "UPDATE artists SET name = name || ' (changed)' WHERE artist_id % 100 = 0",
    "DELETE FROM artists WHERE artist_id % 1000 = 1",
    "INSERT INTO artists (artist_id, name, nationality) VALUES (900001, 'A new one', 'Peruvian')",
)
NEW_TABLE = (
    "CREATE TABLE exhibitions (exhibition_id int PRIMARY KEY, title text)",
    "INSERT INTO exhibitions VALUES (1, 'From before it was captured')",
)


@contextmanager
def museum(data: Path, ports: int, environments: Path) -> Iterator[RunningLake]:
    """A lake that is up, with the artists loaded and captured."""
    running = RunningLake(data, ports, environments)
    running.databases.mkdir()
    running.define("moma", {"public.artists": ARTISTS})
    try:
        running.run("up")
        running.run("load", "moma")
        running.apply()
        yield running
    finally:
        running.remove()


def equal(lake: RunningLake) -> bool:
    return bool(lake.json("verify")["equal"])


def add_a_table(lake: RunningLake) -> None:
    """Captures the exhibitions, with rows from before and from after."""
    lake.execute("moma", *NEW_TABLE)
    lake.define("moma", {"public.artists": ARTISTS, "public.exhibitions": EXHIBITIONS})
    lake.apply()
    lake.execute("moma", "INSERT INTO exhibitions VALUES (2, 'From after')")


def restart(lake: RunningLake, service: str) -> None:
    """Restarts a service, and writes a row after it."""
    lake.run("restart", service)
    next_id = "(SELECT max(exhibition_id) + 1 FROM exhibitions)"
    lake.execute("moma", f"INSERT INTO exhibitions VALUES ({next_id}, '{service}')")
