"""What the sources keep for a lake that goes down, and how that is given up."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial

from lake.clients.connect import Connect
from lake.config.definition import Database
from lake.config.environment import Environment
from lake.config.errors import LakeError
from lake.config.report import Report
from lake.config.waiting import wait_until
from lake.local.stack import Stack
from lake.sources.engine import Kept
from lake.sources.engines import engine_of
from lake.state import applied, dropped

WITHIN_S = 60.0
READ_AGAIN = "its tables are read again at the next lake up"


def captured(home: Environment) -> list[Database]:
    """What the last apply captured, and was not given up since."""
    return [one for name, one in applied.load(home).items() if name not in dropped.databases(home)]


def described(home: Environment, databases: Iterable[Database]) -> Iterator[str]:
    """A line for each database: what its server keeps for the lake, and for how long it does."""
    for one in databases:
        objects = f"{one.database}: {engine_of(one).capture.objects(one)[0]}"
        try:
            kept = engine_of(one).capture.kept(home, one)
        except LakeError as problem:
            if one.source:
                yield f"{objects} of {one.source.place} keeps its log: {problem.what}"
            continue
        if kept:
            yield f"{objects} retains {_amount(kept.bytes)} of log; {_for_how_long(one, kept)}"


def _for_how_long(database: Database, kept: Kept) -> str:
    if database.source is None:
        return "its server goes down with the lake, and writes no more"
    grows = f"{database.source.place} keeps all that it writes until the next lake up"
    if kept.left is None:
        return f"{grows}, without a limit: its disk may fill"
    return f"{grows}, and gives the slot up after {_amount(kept.left)} more"


def _amount(size: int) -> str:
    return f"{size / 2**20:,.1f} MiB"


def drop(home: Environment, databases: list[Database], report: Report) -> None:
    """Drops the slots. Their databases are recovered once the lake is up again."""
    if not databases:
        return
    with suppress(LakeError):
        Stack(home).supervisors["guardian"].stop()  # it would take that for an accident
    for one in databases:
        report(f"dropping {engine_of(one).capture.objects(one)[0]}; {READ_AGAIN}")
        stop_connector(home, one)
        late = LakeError(f"{one.database}: its slot is still read", f"after {WITHIN_S:.0f} s", "run it again")
        wait_until(partial(engine_of(one).capture.reset, home, one), WITHIN_S, late)
        dropped.note(home, one.database)


def stop_connector(home: Environment, database: Database) -> None:
    """Where Kafka Connect is down already, nothing reads."""
    with suppress(LakeError):
        Connect(home).tell(database.connector, "stop")
