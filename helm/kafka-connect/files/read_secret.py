"""A secret of Secrets Manager, in JSON, and files that only their owner can read. Three charts carry this file."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class BadSecret(Exception):
    """A secret does not have the fields that it must have. No message shows a value."""


@contextmanager
def credentials(path: Path, name: str) -> Iterator[tuple[str, str]]:
    """User name and password of a secret, whose JSON is deleted once they were used. name: for messages."""
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError:
        raise BadSecret(f"the {name} secret is not JSON; store username and password in one object") from None
    yield _field(fields, "username", name), _field(fields, "password", name)
    path.unlink()


def _field(fields: object, key: str, name: str) -> str:
    """One field of a secret: a text that is not empty."""
    value = fields.get(key) if isinstance(fields, dict) else None
    if not isinstance(value, str) or not value:
        raise BadSecret(f"the {name} secret has no '{key}'; add it as text")
    return value


def write_private(path: Path, text: str) -> None:
    """Writes a file that only its owner can read, from its first byte on."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
