"""The form of the messages that a connector sends: the flat rows in Avro of the templates, envelopes, or JSON."""

from collections.abc import Mapping

from lake.config.definition import Database

UNWRAP = "unwrap"  # the transform of the templates that makes flat rows of envelopes


CONVERTERS = ("key.converter", "value.converter")
LIMIT = "transforms.limit.max.bytes"
JSON_GROWTH = 6  # a control character in a text: \u0001
JSON = "org.apache.kafka.connect.json.JsonConverter"


def in_form(settings: Mapping[str, str], database: Database, login: Mapping[str, str]) -> dict[str, str]:
    """The settings of a source connector for the form that the definition names. login: to the registry, for Avro."""
    found = without_unwrap(settings) if database.envelope else dict(settings)
    return as_json(found) if database.format == "json" else {**found, **login}


def as_json(settings: Mapping[str, str]) -> dict[str, str]:
    """JSON without schemas, which needs no registry. A NULL stays one: the converter would write the default."""
    kept = {key: text for key, text in settings.items() if not key.startswith(CONVERTERS)}
    without = {"": JSON, ".schemas.enable": "false", ".replace.null.with.default": "false"}
    converters = {side + key: text for side in CONVERTERS for key, text in without.items()}
    # The transform measures the row, and the producer the message: one that is too large would end the capture.
    limit = {LIMIT: str(int(kept[LIMIT]) // JSON_GROWTH)} if LIMIT in kept else {}
    return {**kept, **converters, **limit}


def without_unwrap(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings less the transform that flattens an envelope; the transforms after it take both forms."""
    kept = {key: text for key, text in settings.items() if not key.startswith(f"transforms.{UNWRAP}.")}
    chain = [name for name in settings.get("transforms", "").split(",") if name != UNWRAP]
    return {**kept, "transforms": ",".join(chain)} if "transforms" in settings else kept
