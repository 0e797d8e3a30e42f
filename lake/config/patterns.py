"""Patterns of table names: * stands for any characters, ? for one. One without a dot means tables of any schema."""

import re
from collections.abc import Iterable

WILD = re.compile(r'"(?:[^"]|"")*"|([*?])')


def is_pattern(name: str) -> bool:
    """True if the name has * or ? outside of quotes."""
    return any(found[1] for found in WILD.finditer(name))


def meets(pattern: str, full_name: str) -> bool:
    """True if a table is meant; full_name: "schema.table"."""
    name = full_name if "." in pattern else full_name.rpartition(".")[2]
    parts = (".*" if one == "*" else "." if one == "?" else re.escape(one) for one in pattern)
    return re.fullmatch("".join(parts), name, re.DOTALL) is not None


def first_met(patterns: Iterable[str], full_name: str) -> str | None:
    """The first of the patterns that means the table."""
    return next((one for one in patterns if meets(one, full_name)), None)
