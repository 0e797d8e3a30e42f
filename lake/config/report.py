"""How a long command reports its progress: line by line, to its caller."""

from collections.abc import Callable

Report = Callable[[str], None]


def silent(line: str) -> None:
    """A report that nobody reads."""
