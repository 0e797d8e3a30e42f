"""A span of time in a settings file: 90s, 10m, 2h, 7d."""

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def _seconds(given: Any) -> int:
    found = re.fullmatch(r"([1-9][0-9]{0,5})([smhd])", str(given))
    if not found:
        raise ValueError(f"'{given}' is not a span of time | write 90s, 10m, 2h or 7d")
    return int(found[1]) * SECONDS[found[2]]


def _text(seconds: int) -> str:
    """In the greatest unit: so it is read again."""
    return next(f"{seconds // size}{unit}" for unit, size in reversed(SECONDS.items()) if seconds % size == 0)


Span = Annotated[int, BeforeValidator(_seconds), PlainSerializer(_text)]  # in seconds
