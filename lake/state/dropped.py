"""The slots that `lake down` dropped by consent: the guardian recovers their databases when the lake is up again."""

from lake.config.environment import Environment
from lake.config.files import read_json, replace_json

FILE = "dropped_slots.json"


def databases(home: Environment) -> list[str]:
    return list(read_json(home.data / FILE) or [])


def note(home: Environment, database: str) -> None:
    replace_json(home.data / FILE, sorted({*databases(home), database}))


def forget(home: Environment, database: str) -> None:
    """After its tables were read again."""
    if database in databases(home):
        replace_json(home.data / FILE, [one for one in databases(home) if one != database])
