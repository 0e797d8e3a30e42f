"""Kafka Connect as MSK runs it: the same settings as on EKS, in the places where MSK Connect takes them.

"Supported worker configuration properties" in the guide of MSK says what a worker may be told. The policy of overrides
is not among it, so what a connector overrides of its producer stands in the settings of the worker, which is its own.
"""

import base64
from collections.abc import Mapping
from pathlib import Path

from lake.config.errors import BadInput
from lake.rendering.connector import OVERRIDE, SOURCE_TEMPLATES, client_settings

JSON = "org.apache.kafka.connect.json.JsonConverter"
PROVIDER = "config.providers.secrets"
PRODUCER = "producer."
# What MSK Connect lets a worker say of producers, as far as a template says it; and what is Kafka's own default.
SUPPORTED = frozenset({"acks", "batch.size", "compression.type", "enable.idempotence", "linger.ms", "max.request.size"})
DEFAULTS = {"max.in.flight.requests.per.connection": "5"}
# MSK Connect names a connector itself. A template of CloudFormation has no place for U+0000; Debezium takes octets too.
NAME, PLACEHOLDER = "name", "unavailable.value.placeholder"


def connector_name(environment: str, connector: str) -> str:
    """The name of a connector at MSK: an account has each name once in a region."""
    return f"lake-{environment}-{connector}"


def worker_settings(root: Path, *, offsets: str, region: str, secrets: Mapping[str, str]) -> dict[str, str]:
    """offsets: the topic that outlives a connector. secrets: ARNs by the names that connectors use.

    BadInput if a template sets something that MSK Connect has no place for.
    """
    return {
        "key.converter": JSON,
        "value.converter": JSON,
        "offset.storage.topic": offsets,
        "offset.flush.interval.ms": "1000",
        "config.providers": "secrets",
        f"{PROVIDER}.class": "lake.secrets.SecretsProvider",
        f"{PROVIDER}.param.region": region,
        f"{PROVIDER}.param.secrets": ",".join(f"{name}={arn}" for name, arn in secrets.items()),
        **{f"{PRODUCER}{key}": value for key, value in _producer(client_settings(root)).items()},
    }


def connector_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings of a connector, less what stands elsewhere here."""
    kept = {key: value for key, value in settings.items() if key != NAME and not key.startswith(OVERRIDE)}
    return {key: f"hex:{value.encode().hex()}" if key == PLACEHOLDER else value for key, value in kept.items()}


def tls(authorities: str) -> dict[str, str]:
    """TLS settings of Debezium. No file reaches a worker of MSK Connect, so the authorities stand in the settings."""
    if not authorities:
        return {"database.sslmode": "require"}
    return {
        "database.sslmode": "verify-full",
        "database.sslfactory": "lake.connect.GivenAuthorities",
        "driver.sslfactoryarg": base64.b64encode(authorities.encode()).decode(),
    }


def _producer(wanted: Mapping[str, str]) -> dict[str, str]:
    for key, value in wanted.items():
        if key not in SUPPORTED and DEFAULTS.get(key) != value:
            now = "remove it there, or take connect.kind: eks"
            raise BadInput(f"MSK Connect cannot set {key} of a producer to {value}", SOURCE_TEMPLATES, now)
    return {key: value for key, value in wanted.items() if key in SUPPORTED}
