"""An Avro schema that a person declares for the messages of a table, in a file next to the definition."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lake.config.errors import BadInput

Schema = dict[str, Any]
KEY = "avsc"
NAMES = ("boolean", "int", "long", "float", "double", "string", "bytes", "null")
INNER = {"array": "items", "map": "values"}
FIX = "correct the file; docs/definition.md has an example"


def with_declared(content: dict[str, Any], path: Path) -> dict[str, Any]:
    """A definition with the schemas themselves in place of the names of their files. path: of the definition."""
    tables = content.get("tables")
    if not isinstance(tables, dict):
        return content
    return {**content, "tables": {name: _with_schema(str(name), one, path) for name, one in tables.items()}}


def columns_of(schema: Schema) -> list[str]:
    """The names of the declared fields."""
    return [field["name"] for field in schema["fields"]]


def _with_schema(table: str, settings: Any, path: Path) -> Any:
    if not isinstance(settings, Mapping) or not isinstance(settings.get(KEY), str):
        return settings
    return {**settings, KEY: _read(path.parent / settings[KEY], f"{path}, key tables.{table}.{KEY}")}


def _read(file: Path, where: str) -> Schema:
    try:
        schema = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput(f"there is no file {file}", where, "write it, or correct its name") from None
    except ValueError as error:
        raise BadInput(f"{file} is not JSON: {error}", where, FIX) from None
    problem = next(_problems(schema), None)
    if problem:
        raise BadInput(f"{file} {problem}", where, FIX)
    return dict(schema)


def _problems(schema: Any) -> Iterator[str]:
    if not isinstance(schema, dict) or schema.get("type") != "record" or not isinstance(schema.get("fields"), list):
        yield 'is not the schema of a record: {"type": "record", "name": "Value", "fields": [...]}'
        return
    for field in schema["fields"]:
        if not isinstance(field, dict) or not isinstance(field.get("name"), str) or "type" not in field:
            yield f"has a field without name or type: {field}"
        elif not _is_known(field["type"]):
            yield f"gives the field {field['name']} a type that is not read: {json.dumps(field['type'])}"


def _is_known(declared: Any) -> bool:
    """True for what JSON and the catalog can both hold. A logical type is none of it: JSON has numbers and texts."""
    if isinstance(declared, list):
        present = [one for one in declared if one != "null"]
        return len(present) == 1 and _is_known(present[0])
    if not isinstance(declared, dict):
        return declared in NAMES
    kind = declared.get("type")
    if kind == "record":
        return next(_problems(declared), None) is None
    return "logicalType" not in declared and _is_known(declared.get(INNER[kind]) if kind in INNER else kind)
