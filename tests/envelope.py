"""A second capture of a database: Debezium's envelopes, or flat rows once more."""

from lake.config.definition import Database
from lake.config.environment import Environment
from lake.rendering.connector import render
from lake.rendering.message_form import in_form
from lake.sources.connector import local_registry_login, local_values, template
from lake.sources.postgres.names import slot


def envelope_connector(database: Database, environment: Environment, prefix: str) -> dict[str, str]:
    """The same capture with `envelope: true`, to topics below prefix, through a slot of its own."""
    return _second_capture(database.model_copy(update={"envelope": True}), environment, prefix, prefix)


def flat_connector(database: Database, environment: Environment, prefix: str) -> dict[str, str]:
    """One more capture to the topics below prefix, with unwrap. It begins with a snapshot."""
    return _second_capture(database, environment, prefix, f"{prefix}_flat")


def _second_capture(database: Database, environment: Environment, prefix: str, name: str) -> dict[str, str]:
    values = {**local_values(database, environment), "TOPIC_PREFIX": prefix}
    values.update(CONNECTOR=f"{database.connector}_{name}", SLOT=f"{slot(database)}_{name}")
    rendered = render(template(environment.root, database), values)
    return in_form(rendered, database, local_registry_login(environment))
