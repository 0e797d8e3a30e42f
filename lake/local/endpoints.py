"""The addresses and logins of the services."""

from typing import Any

from lake.config.environment import CONNECT_OPERATOR, Environment
from lake.rendering.connector import REGISTRY_WRITER


def endpoints(home: Environment) -> dict[str, Any]:
    """Addresses and credentials by service; LakeError if this lake was never started."""
    secrets = home.secrets
    return {
        "postgres": {"dsn": home.dsn()},
        "kafka": {"bootstrap": home.kafka_bootstrap},
        "connect": {"url": home.connect, "user": CONNECT_OPERATOR, "password": secrets.connect_operator},
        "registry": {"url": home.registry, "user": REGISTRY_WRITER, "password": secrets.registry_writer},
        "s3": {
            "endpoint": home.s3,
            "access_key": secrets.s3_access_key,
            "secret_key": secrets.s3_secret_key,
            "bucket": home.bucket,
        },
        "metastore": {"uri": home.metastore},
    }


def flat(values: dict[str, Any]) -> dict[str, str]:
    """The same with dotted keys: postgres.dsn, s3.bucket, ..."""
    return {f"{service}.{key}": value for service, items in values.items() for key, value in items.items()}
