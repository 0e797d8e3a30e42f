"""A second capture of a database, whose messages are Debezium's envelopes."""

from collections.abc import Mapping

from lake.config.definition import Database
from lake.config.environment import Environment
from lake.rendering.connector import registry_login, render
from lake.sources.connector import local_values, template
from lake.sources.postgres.names import slot

OF_FLAT_ROWS = ("unwrap", "run", "unavailable")  # transforms


def envelope_connector(database: Database, environment: Environment, prefix: str) -> dict[str, str]:
    """The same capture without unwrap: envelopes, to topics below prefix, through a slot of its own."""
    values = {**local_values(database, environment), "TOPIC_PREFIX": prefix}
    values.update(CONNECTOR=f"{database.connector}_{prefix}", SLOT=f"{slot(database)}_{prefix}")
    return {**without_unwrap(render(template(environment.root, database), values)), **registry_login(environment)}


def without_unwrap(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings less the transform that flattens the envelope, and the one that reads what it makes."""
    gone = tuple(f"transforms.{name}." for name in OF_FLAT_ROWS)
    kept = {key: text for key, text in settings.items() if not key.startswith(gone)}
    chain = [name for name in kept["transforms"].split(",") if name not in OF_FLAT_ROWS]
    return {**kept, "transforms": ",".join(chain)}
