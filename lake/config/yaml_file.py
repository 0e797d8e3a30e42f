"""Reads a YAML file into a typed model and explains every mistake in one line."""

import difflib
import re
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML, YAMLError
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.resolver import VersionedResolver

from lake.config.errors import BadInput

Model = TypeVar("Model")
UNKNOWN_KEY = ("extra_forbidden", "unexpected_keyword_argument")
MISSING_KEY = ("missing", "missing_argument")
LETTERS = ("y", "Y", "n", "N")


class _Resolver(VersionedResolver):
    """YAML 1.1, but a single letter is text and no boolean, as in PyYAML: a column may be named n."""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        return super().resolve(kind, value, (False, True) if value in LETTERS else implicit)


def read_mapping(path: Path) -> dict[str, Any]:
    """The top-level mapping of the file; BadInput when it is missing, unreadable or not YAML."""
    try:
        content = _load(path)
    except YAMLError as error:
        raise BadInput(_syntax_problem(error), _place(path, error), "correct the YAML there") from None
    if not isinstance(content, dict):
        kind = "list" if isinstance(content, list) else "single value"
        found = "nothing" if content is None else f"a {kind}"
        raise BadInput(f"expected key: value lines, found {found}", str(path), "start from the example in README.md")
    return content


def as_model(model: type[Model], content: dict[str, Any], path: Path) -> Model:
    """The content as a model; BadInput names the file, line and key of the first mistake."""
    try:
        return TypeAdapter(model).validate_python(content)
    except ValidationError as error:
        # A misspelt required key is two mistakes to pydantic; its misspelling is the one to show.
        first = min(error.errors(), key=lambda found: found["type"] not in UNKNOWN_KEY)
        what, now = _explained(first, model)
        raise BadInput(what, _key_place(path, first), now) from None


def check_file_name(path: Path, kind: str, key: str, name: str) -> None:
    """BadInput if the file does not have the name that is written in it. kind: what has the name, "environment"."""
    if name != path.stem:
        raise BadInput(
            f"{kind} '{name}' is in a file with another name",
            f"{path}:{_written(path, [key])[0]}, key {key}",
            f"rename the file to {name}.yaml, or write {key}: {path.stem}",
        )


def _load(path: Path) -> Any:
    """The content of the file, which knows the lines of its keys. It refuses a key that is written twice."""
    loader = YAML()
    loader.Resolver = _Resolver
    loader.version = (1, 1)  # `yes` and `on` are true, as most people expect
    return loader.load(_text(path))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BadInput("no such file", str(path), _instead(path)) from None
    except UnicodeDecodeError as error:
        raise BadInput(f"not UTF-8 text (byte {error.start})", str(path), "save the file as UTF-8") from None
    except OSError as error:
        raise BadInput(f"cannot read: {error.strerror}", str(path), "check the file and its permissions") from None


def _instead(path: Path) -> str:
    other, folder = path.with_suffix(".yml"), path.parent
    if other.exists():
        return f"rename {other.name} to {path.name}"
    names = sorted(path.name for path in folder.glob("*.yaml"))
    return f"present there: {', '.join(names)}" if names else f"create it; {folder} has no .yaml file"


def _syntax_problem(error: YAMLError) -> str:
    problem = str(getattr(error, "problem", None) or "not readable as YAML")
    twice = re.search('duplicate key "(.+?)" with value', problem)
    return f"duplicate key '{twice[1]}'" if twice else f"not valid YAML: {problem}"


def _place(path: Path, error: YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    lines = len(_text(path).splitlines())
    return f"{path}:{min(mark.line + 1, lines)}" if mark else str(path)  # the mark may be after the last line


def _key_place(path: Path, error: ErrorDetails) -> str:
    keys = [str(part) for part in error["loc"]]
    line, depth = _written(path, keys)
    if error["type"] not in MISSING_KEY:
        keys = keys[:depth]
    return f"{path}:{line}, key {'.'.join(keys)}" if keys else str(path)


def _written(path: Path, keys: list[str]) -> tuple[int, int]:
    """The line (from 1) and the depth of the deepest of the nested keys that the file contains."""
    node, line = _load(path), 0
    for depth, key in enumerate(keys):
        if isinstance(node, CommentedMap) and key in node:
            line, node = node.lc.key(key)[0], node[key]
        elif isinstance(node, CommentedSeq) and key.isdecimal() and int(key) < len(node):
            line, node = node.lc.item(int(key))[0], node[int(key)]
        else:
            return line + 1, depth
    return line + 1, len(keys)


def _explained(error: ErrorDetails, model: type[Any]) -> tuple[str, str]:
    """What is wrong, and what to do now."""
    kind, key = error["type"], str(error["loc"][-1]) if error["loc"] else ""
    if kind in UNKNOWN_KEY:
        return "unknown key", _nearest_key(key, _known_keys(model, len(error["loc"])))
    if kind in MISSING_KEY:
        return "a required key is missing", f"add '{key}'"
    if kind == "value_error":
        what, _, now = str(error["ctx"]["error"]).partition(" | ")
        return what, now or "correct the value"
    found = repr(error["input"])
    shown = found if len(found) <= 60 else f"{found[:57]}..."
    return f"{error['msg'][0].lower()}{error['msg'][1:]}, found {shown}", "correct the value"


def _known_keys(model: type[Any], depth: int) -> list[str]:
    """The keys the model allows at the top level (depth 1) or below it."""
    schema = TypeAdapter(model).json_schema()
    nested = [part for part in schema.get("$defs", {}).values() if "properties" in part]
    parts = [schema] if depth == 1 else nested
    return sorted({key for part in parts for key, one in part.get("properties", {}).items() if not one.get("readOnly")})


def _nearest_key(wrong: str, known: list[str]) -> str:
    near = difflib.get_close_matches(wrong, known, n=1)
    return f"did you mean '{near[0]}'?" if near else f"known keys: {', '.join(known)}"
