"""Connector settings: a JSON template of connector_configs/ with its placeholders filled."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from lake.config.errors import BadInput

SOURCE_TEMPLATES = "connector_configs/source_*_kafka.json"
REGISTRY_WRITER = "connect"
OVERRIDE = "producer.override."
# Upper case only, so that a ${file:...} reference of Kafka's ConfigProvider passes through untouched.
PLACEHOLDER = re.compile(r"\$\{([A-Z][A-Z0-9_]*)\}")


def render(path: Path, values: Mapping[str, str]) -> dict[str, str]:
    """The settings of one connector; BadInput when a placeholder has no value or a value no placeholder.

    Values are put in after parsing, so no value can break the JSON or add a placeholder.
    """
    settings = _parsed(path)
    wanted = {name for text in settings.values() for name in PLACEHOLDER.findall(text)}
    _refuse(sorted(wanted - set(values)), "has no value", path, "give it a value")
    _refuse(sorted(set(values) - wanted), "is used by no setting", path, "remove it or use it in the template")
    return {key: PLACEHOLDER.sub(lambda found: values[found[1]], text) for key, text in settings.items()}


def client_overrides(root: Path) -> list[str]:
    """The names of the settings of Kafka clients that the templates set for a source connector."""
    return sorted(client_settings(root))


def client_settings(root: Path) -> dict[str, str]:
    """The same with their values."""
    found = [pair for path in sorted(root.glob(SOURCE_TEMPLATES)) for pair in _parsed(path).items()]
    return {key.removeprefix(OVERRIDE): value for key, value in found if key.startswith(OVERRIDE)}


def registry_login(password: str) -> dict[str, str]:
    """How the converters of a connector may write schemas. password: a reference that the worker resolves."""
    login = {"username": REGISTRY_WRITER, "password": password}
    return {
        f"{side}.converter.apicurio.auth.{name}": value for side in ("key", "value") for name, value in login.items()
    }


def _parsed(path: Path) -> dict[str, str]:
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput("no such connector template", str(path), "restore the file") from None
    except json.JSONDecodeError as error:
        where = f"{path}:{error.lineno}"
        raise BadInput(f"not valid JSON: {error.msg}", where, "correct the JSON there") from None
    if not isinstance(settings, dict):
        raise BadInput("expected one JSON object", str(path), "write the settings between { and }")
    wrong = [key for key, text in settings.items() if not isinstance(text, str)]
    _refuse(wrong, "is not text", path, "put the value in quotes: Connect takes text only")
    return settings


def _refuse(names: list[str], problem: str, path: Path, now: str) -> None:
    if names:
        raise BadInput(f"'{names[0]}' {problem}", str(path), now)
