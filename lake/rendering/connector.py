"""Connector settings: a JSON template of connector_configs/ with its placeholders filled."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from lake.config.definition import Database
from lake.config.environment import LOOPBACK, Environment
from lake.config.errors import BadInput
from lake.rendering.topics import LARGEST_MESSAGE, largest_row

TEMPLATE = Path("connector_configs") / "source_postgres_kafka.json"
CAPTURE_USER = "lake_capture"
REGISTRY_WRITER = "connect"
OVERRIDE = "producer.override."
OF_FLAT_ROWS = ("unwrap", "run", "unavailable")  # transforms
NO_TOPIC = "(?!)"  # a pattern that nothing matches
# Upper case only, so that a ${file:...} reference of Kafka's ConfigProvider passes through untouched.
PLACEHOLDER = re.compile(r"\$\{([A-Z][A-Z0-9_]*)\}")


def render(path: Path, values: Mapping[str, str]) -> dict[str, str]:
    """The settings of one connector; BadInput when a placeholder has no value or a value no placeholder.

    Values are put in after parsing, so none of them can break the JSON or bring a placeholder of its own.
    """
    settings = _parsed(path)
    wanted = {name for text in settings.values() for name in PLACEHOLDER.findall(text)}
    _refuse(sorted(wanted - set(values)), "has no value", path, "give it a value")
    _refuse(sorted(set(values) - wanted), "is used by no setting", path, "remove it or use it in the template")
    return {key: PLACEHOLDER.sub(lambda found: values[found[1]], text) for key, text in settings.items()}


def client_overrides(root: Path) -> list[str]:
    """The settings of its Kafka clients that the template gives a connector, by name."""
    return sorted(key.removeprefix(OVERRIDE) for key in _parsed(root / TEMPLATE) if key.startswith(OVERRIDE))


def source_connector(database: Database, environment: Environment) -> dict[str, str]:
    """The connector that captures the tables of one database as flat rows."""
    return {**render(environment.root / TEMPLATE, _local_values(database, environment)), **registry_login(environment)}


def registry_login(environment: Environment) -> dict[str, str]:
    """How the converters of a connector may write schemas; on AWS the network says who may."""
    login = {"username": REGISTRY_WRITER, "password": f"${{file:{environment.registry_secrets_path}:password}}"}
    return {
        f"{side}.converter.apicurio.auth.{name}": value for side in ("key", "value") for name, value in login.items()
    }


def envelope_connector(database: Database, environment: Environment, prefix: str) -> dict[str, str]:
    """The same capture without unwrap: envelopes, to topics below prefix, through a slot of its own."""
    values = {**_local_values(database, environment), "TOPIC_PREFIX": prefix}
    values.update(CONNECTOR=f"{database.connector}_{prefix}", SLOT=f"{database.slot}_{prefix}")
    return {**without_unwrap(render(environment.root / TEMPLATE, values)), **registry_login(environment)}


def without_unwrap(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings less the transform that flattens the envelope, and the one that reads what it makes."""
    gone = tuple(f"transforms.{name}." for name in OF_FLAT_ROWS)
    kept = {key: text for key, text in settings.items() if not key.startswith(gone)}
    chain = [name for name in kept["transforms"].split(",") if name not in OF_FLAT_ROWS]
    return {**kept, "transforms": ",".join(chain)}


def _local_values(database: Database, environment: Environment) -> dict[str, str]:
    return source_values(
        database,
        host=LOOPBACK,
        port=environment.ports.postgres,
        registry=environment.registry_url,
        password=f"${{file:{environment.capture_secrets_path}:password}}",
        largest_message=LARGEST_MESSAGE,
    )


def source_values(
    database: Database, *, host: str, port: int, registry: str, password: str, largest_message: int
) -> dict[str, str]:
    """What the placeholders of the capture stand for; password is a reference, which Connect resolves."""
    return {
        "CONNECTOR": database.connector,
        "DB_HOST": host,
        "DB_PORT": str(port),
        "DATABASE": database.database,
        "CAPTURE_USER": CAPTURE_USER,
        "CAPTURE_PASSWORD": password,
        "TOPIC_PREFIX": database.database,
        "TABLES": ",".join(table.full_name for table in database.tables),
        "PUBLICATION": database.publication,
        "SLOT": database.slot,
        "KEY_ONLY_TOPICS": key_only_topics(database),
        "LARGEST_ROW": str(largest_row(largest_message)),
        "REGISTRY_URL": f"{registry}/apis/registry/v2",
    }


def key_only_topics(database: Database) -> str:
    """A pattern of the topics whose messages may lack values: those of tables under REPLICA IDENTITY DEFAULT."""
    names = [table.topic(database.database) for table in database.tables if table.replica_identity == "default"]
    return "|".join(name.replace(".", "[.]") for name in names) or NO_TOPIC


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
