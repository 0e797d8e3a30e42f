"""The form of the messages that a connector sends: flat rows, which the templates render, or Debezium's envelopes."""

from collections.abc import Mapping

from lake.config.definition import Database

UNWRAP = "unwrap"  # the transform of the templates that makes flat rows of envelopes


def in_form(settings: Mapping[str, str], database: Database) -> dict[str, str]:
    """The settings of a source connector for the form that the definition names."""
    return without_unwrap(settings) if database.envelope else dict(settings)


def without_unwrap(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings less the transform that flattens an envelope; the transforms after it take both forms."""
    kept = {key: text for key, text in settings.items() if not key.startswith(f"transforms.{UNWRAP}.")}
    chain = [name for name in kept["transforms"].split(",") if name != UNWRAP]
    return {**kept, "transforms": ",".join(chain)}
