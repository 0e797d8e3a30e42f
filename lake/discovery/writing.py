"""A definition as a person would write it: each table in a line, with what it is, and what was left out."""

import json
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from lake.config.definition import DATABASES_VARIABLE, Database, load_database
from lake.config.errors import BadInput
from lake.config.files import replace_file
from lake.discovery.candidates import Candidate, Found
from lake.discovery.dsn import Target
from lake.discovery.measures import amount, size

PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*")
NO_TEXT = ("y", "n", "yes", "no", "true", "false", "on", "off", "null")  # to YAML 1.1 they are something else
PUBLIC = 0o644


def path_of(root: Path, database: str) -> Path:
    """databases/<database>.yaml, or the file of that name in LAKE_DATABASES_DIR."""
    return root / os.environ.get(DATABASES_VARIABLE, "databases") / f"{database}.yaml"


def text(target: Target, found: Found, chosen: Sequence[Candidate]) -> str:
    """The content of databases/<name>.yaml."""
    left = [one for one in found.candidates if one not in chosen]
    lines = [
        f"# {len(chosen)} of {len(found.candidates)} relations of PostgreSQL {found.survey.version}, by lake init.",
        "# lake plan shows what this captures; docs/keys.md lists all keys.",
        f"database: {scalar(found.database)}",
        *([f"source: {flow(target.keys)}"] if target.keys else []),
        "tables:",
        *(_entry(one) for one in chosen),
        *_left_out(left),
    ]
    return "\n".join([*lines, ""])


def write(path: Path, content: str, may_replace: bool) -> Database:
    """Writes the whole file or nothing; BadInput for a file that exists, or for a definition that would be refused."""
    if path.exists() and not may_replace:
        now = "lake init --update adds tables to it, --replace writes it anew"
        raise BadInput("the definition exists", str(path), now)
    draft = path.with_name(f".{path.stem}") / path.name  # the name of a definition is that of its file
    try:
        replace_file(draft, content, PUBLIC)
        database = load_database(draft)
        draft.replace(path)
    except BadInput as problem:
        raise BadInput(problem.what, problem.where.replace(str(draft), str(path)), problem.now) from None
    finally:
        shutil.rmtree(draft.parent, ignore_errors=True)
    return database


def flow(value: Any) -> str:
    """A value in one line of YAML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(key)}: {flow(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    return scalar(value)


def scalar(value: Any) -> str:
    """A text in quotes where YAML would read something else."""
    if isinstance(value, str) and PLAIN.fullmatch(value) and value.lower() not in NO_TEXT:
        return value
    return json.dumps(value, ensure_ascii=False)


def _entry(one: Candidate) -> str:
    facts = ", ".join(part for part in (amount(one.relation.rows, "row"), size(one.relation.bytes)) if part)
    return f"  {scalar(one.full_name)}: {flow(one.settings)} # {facts}"


def _left_out(left: Iterable[Candidate]) -> list[str]:
    lines = [f"#   {one.full_name}: {'; '.join(reason.what for reason in one.reasons) or 'not chosen'}" for one in left]
    return ["# Left out:", *(line.replace("\n", " ") for line in lines)] if lines else []
