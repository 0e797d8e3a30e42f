"""Writes docs/keys.md: every key of both YAML files, from the models that read them: python -m tools.keys_page."""

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Iterator
from typing import Any, get_args

from pydantic import BaseModel, TypeAdapter

from lake.aws.environment import AwsEnvironment
from lake.config.definition import Database
from lake.config.environment import PROJECT, Environment

PAGE = PROJECT / "docs/keys.md"
NOT_WRITTEN = {(Environment, "root")}
ITEM = {"tables": "SCHEMA.TABLE", "columns": "COLUMN"}  # what a person names below a key
HEAD = """# All keys of both YAML files

`make pages` writes this page from the models that read the files. [definition.md](definition.md) explains the keys of a
definition, [deploy.md](deploy.md) those of an environment on AWS. An unknown key is refused, with the nearest one that
there is.
"""
FILES = (
    ("databases/NAME.yaml", Database, "What is captured from one database."),
    ("environments/NAME.yaml of a lake on this machine", Environment, "Where it runs and how big it is."),
    ("environments/NAME.yaml of a lake on AWS", AwsEnvironment, "The file has the key `region`."),
)
COLUMNS = ("key", "values", "default", "means")


def page() -> str:
    sections = (
        "\n".join([f"## {title}", "", text, "", *_line(COLUMNS), *(line for row in keys(model) for line in _line(row))])
        for title, model, text in FILES
    )
    return "\n".join([HEAD, "\n\n".join(sections), ""])


def keys(model: type[Any], path: str = "") -> Iterator[tuple[str, str, str, str]]:
    """Path, values, default and meaning of each key, those of its parts below it."""
    schema = TypeAdapter(model).json_schema(by_alias=True)
    properties, required, notes = schema["properties"], schema.get("required", []), comments(model)
    for name, field in fields_of(model).items():
        key = field.alias or name
        if properties[key].get("readOnly") or (model, name) in NOT_WRITTEN:
            continue
        part = _part(field.annotation)
        default = "required" if key in required else "" if part else _default(properties[key])
        values = "the keys below" if part and not _choices(properties[key]) else _values(properties[key])
        yield path + key, values, default, notes.get(name, "") or (_first_line(part) if part else "")
        if part:
            yield from keys(part, f"{path}{key}.{ITEM[key]}." if key in ITEM else f"{path}{key}.")


def fields_of(model: type[Any]) -> dict[str, Any]:
    found: dict[str, Any] = model.model_fields if issubclass(model, BaseModel) else model.__pydantic_fields__
    return found


def comments(model: type[Any]) -> dict[str, str]:
    """The comment behind or above each field, or in its Field()."""
    lines = textwrap.dedent(inspect.getsource(model)).splitlines()
    found = {}
    (body,) = ast.parse("\n".join(lines)).body
    for node in body.body if isinstance(body, ast.ClassDef) else ():
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            behind = _comment(lines[(node.end_lineno or node.lineno) - 1][node.end_col_offset or 0 :])
            found[node.target.id] = behind or " ".join(_above(lines, node.lineno - 2))
    return found


def _above(lines: list[str], at: int) -> list[str]:
    """The comment that ends in this line."""
    text = lines[at].strip()
    return [*_above(lines, at - 1), _comment(text)] if text.startswith("#") else []


def _comment(text: str) -> str:
    found = re.match(r"\s*#\s*(.*)", text)
    return found[1] if found else ""


def _part(annotation: Any) -> type[Any] | None:
    """The model that a field holds: itself, one of several, or as the values of a mapping."""
    if isinstance(annotation, type) and (
        issubclass(annotation, BaseModel) or hasattr(annotation, "__pydantic_fields__")
    ):
        return annotation
    return next((found for one in get_args(annotation) if (found := _part(one))), None)


def _first_line(part: type[Any]) -> str:
    return (part.__doc__ or "").splitlines()[0]


def _choices(schema: dict[str, Any]) -> bool:
    return any("type" in one for one in schema.get("anyOf", []) if one.get("type") != "null")


def _values(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_values(one) for one in schema["anyOf"] if one.get("type") != "null")
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{one}`" for one in schema.get("enum", [schema.get("const")]))
    kind = schema.get("type", "keys" if "$ref" in schema else "")
    if kind == "array":
        return f"list of {_values(schema.get('items', {})) or 'values'}"
    if kind == "boolean":
        return "`true`, `false`"
    return f"{kind}{_range(schema)}" if kind != "object" else "keys"


def _range(schema: dict[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is None and high is None:
        return ""
    return f", {low} or more" if high is None else f", {low} to {high}"


def _default(schema: dict[str, Any]) -> str:
    default = schema.get("default")
    return "" if default in (None, [], {}) else f"`{json.dumps(default, ensure_ascii=False)}`".replace('"', "")


def _line(row: tuple[str, ...]) -> list[str]:
    """A line of the table; the names of its columns are underlined."""
    cells = [f"`{row[0]}`" if row != COLUMNS else row[0], *(cell.replace("|", "\\|") for cell in row[1:])]
    line = f"| {' | '.join(cells)} |"
    return [line, "|---" * len(row) + "|"] if row == COLUMNS else [line]


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE.relative_to(PROJECT))


if __name__ == "__main__":
    main()
