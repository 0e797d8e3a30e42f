"""The definition as the last `lake apply` left it: what a file that is away for a moment said."""

from pydantic import ValidationError

from lake.config.definition import READ, Database
from lake.config.environment import Environment
from lake.config.files import read_json, replace_json

FILE = "applied.json"


def save(home: Environment, databases: list[Database]) -> None:
    if databases == list(load(home).values()):
        return
    replace_json(home.data / FILE, [_content(one) for one in databases])


def load(home: Environment) -> dict[str, Database]:
    """By name; {} before the first apply, and of a lake that another version of this program applied."""
    try:
        found = [Database.model_validate(one) for one in read_json(home.data / FILE) or []]
    except ValidationError:
        return {}
    return {one.database: one for one in found}


def _content(database: Database) -> dict[str, object]:
    content = database.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    for table in content["tables"].values():
        for read in ("full_name", *READ):  # the name is the key
            table.pop(read, None)
    return content
