"""A second capture of a database: Debezium's envelopes, or flat rows once more."""

from collections.abc import Mapping

from lake.config.definition import Database
from lake.config.environment import Environment
from lake.rendering.connector import render
from lake.sources.connector import local_registry_login, local_values, template
from lake.sources.postgres.names import slot

OF_FLAT_ROWS = ("unwrap", "run", "unavailable")  # transforms


def envelope_connector(database: Database, environment: Environment, prefix: str) -> dict[str, str]:
    """The same capture without unwrap: envelopes, to topics below prefix, through a slot of its own."""
    return without_unwrap(_second_capture(database, environment, prefix, prefix))


def flat_connector(database: Database, environment: Environment, prefix: str) -> dict[str, str]:
    """One more capture to the topics below prefix, with unwrap. It begins with a snapshot."""
    return _second_capture(database, environment, prefix, f"{prefix}_flat")


def _second_capture(database: Database, environment: Environment, prefix: str, name: str) -> dict[str, str]:
    values = {**local_values(database, environment), "TOPIC_PREFIX": prefix}
    values.update(CONNECTOR=f"{database.connector}_{name}", SLOT=f"{slot(database)}_{name}")
    return {**render(template(environment.root, database), values), **local_registry_login(environment)}


def without_unwrap(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings less the transform that flattens the envelope, and the one that reads what it makes."""
    gone = tuple(f"transforms.{name}." for name in OF_FLAT_ROWS)
    kept = {key: text for key, text in settings.items() if not key.startswith(gone)}
    chain = [name for name in kept["transforms"].split(",") if name not in OF_FLAT_ROWS]
    return {**kept, "transforms": ",".join(chain)}
