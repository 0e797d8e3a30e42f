"""How a long command tells its progress: line by line, to whoever started it."""

from collections.abc import Callable

Report = Callable[[str], None]


def silent(line: str) -> None:
    """A report that nobody reads."""
