"""The connector that captures one database: the template of its engine, filled."""

from pathlib import Path

from lake.config.definition import Database
from lake.config.environment import LOOPBACK, Environment
from lake.rendering import columns
from lake.rendering.connector import registry_login, render
from lake.rendering.message_form import in_form
from lake.rendering.topics import LARGEST_MESSAGE, largest_row
from lake.sources.engine import Address
from lake.sources.engines import engine_of


def template(root: Path, database: Database) -> Path:
    return root / "connector_configs" / f"source_{engine_of(database).name}_kafka.json"


def source_connector(database: Database, environment: Environment) -> dict[str, str]:
    """The connector of a lake on this machine."""
    rendered = render(template(environment.root, database), local_values(database, environment))
    of_engine = engine_of(database).connector
    more = {**of_engine.transport(database), **of_columns(database, local_hash_secret(environment))}
    return in_form({**rendered, **more}, database, local_registry_login(environment))


def of_columns(database: Database, secret: str) -> dict[str, str]:
    """Settings beyond the template for what the source and the definition say of columns. secret: a reference."""
    of_engine = engine_of(database).connector
    return {**of_engine.resolved(database), **of_engine.hashed(database, secret), **columns.names(database)}


def local_hash_secret(environment: Environment) -> str:
    return f"${{file:{environment.hash_secrets_path}:password}}"


def local_registry_login(environment: Environment) -> dict[str, str]:
    return registry_login(f"${{file:{environment.registry_secrets_path}:password}}")


def local_values(database: Database, environment: Environment) -> dict[str, str]:
    password = f"${{file:{environment.capture_secrets_path}:password}}"
    host, port = source_place(database, environment)
    address = Address(host, port, password)
    return source_values(database, address, environment.registry, LARGEST_MESSAGE)


def source_place(database: Database, environment: Environment) -> tuple[str, int]:
    """Host and port of the server."""
    source = database.source
    return (source.host, source.port) if source else (LOOPBACK, environment.ports.postgres)


def source_values(database: Database, address: Address, registry: str, largest_message: int) -> dict[str, str]:
    """The values of the placeholders of a template: those of every engine, and the engine's own."""
    return {
        "CONNECTOR": database.connector,
        "TOPIC_PREFIX": database.topic_prefix,
        "TABLES": ",".join(map(engine_of(database).connector.selector, database.by_name)),
        "LARGEST_ROW": str(largest_row(largest_message)),
        "REGISTRY_URL": f"{registry}/apis/registry/v2",
        **engine_of(database).connector.values(database, address),
    }
