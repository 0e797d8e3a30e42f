"""Patterns of table names: * stands for any characters, ? for one. One without a dot means tables of any schema.

A definition may have patterns below `tables`. What they meet is kept in a file next to it, which `lake init --update`
writes from the catalog: so every command, and AWS, reads the same tables without asking the source.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lake.config.errors import BadInput
from lake.config.files import read_json
from lake.config.names import command_line

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


def patterns_of(content: dict[str, Any]) -> dict[str, Any]:
    """The patterns of a definition, with the settings for the tables that they meet."""
    tables = content.get("tables")
    named = tables.items() if isinstance(tables, dict) else ()
    return {str(name): settings for name, settings in named if is_pattern(str(name))}


def resolved_path(path: Path) -> Path:
    """The file of the tables that the patterns of a definition meet."""
    return path.with_name(f"{path.stem}.tables.json")


def with_resolved(content: dict[str, Any], path: Path) -> dict[str, Any]:
    """A definition with the tables that its patterns meet; the settings of an exact name win. path: of the definition.

    BadInput if they were never resolved.
    """
    patterns = patterns_of(content)
    if not patterns:
        return content
    met = read_json(resolved_path(path))
    if met is None:
        what = f"the catalog was not asked yet what {', '.join(patterns)} means"
        raise BadInput(what, f"{path}, key tables", f"run: {command_line('init', path.stem, '--update')}")
    exact = {name: settings for name, settings in content["tables"].items() if str(name) not in patterns}
    found = {name: (first_met(patterns, name), read) for name, read in met.items() if name not in exact}
    added = {name: {**read, **(patterns[pattern] or {})} for name, (pattern, read) in found.items() if pattern}
    return {**content, "tables": {**exact, **added}}
