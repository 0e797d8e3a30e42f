"""How the clients of Kafka log in: by IAM or by user name and password, at MSK and at a local broker."""

from collections.abc import Mapping
from pathlib import Path

from lake.config.environment import Environment
from lake.rendering.kafka_acls import JOBS

IAM_LOGIN = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "AWS_MSK_IAM",
    "sasl.jaas.config": "software.amazon.msk.auth.iam.IAMLoginModule required;",
    "sasl.client.callback.handler.class": "software.amazon.msk.auth.iam.IAMClientCallbackHandler",
}
SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
SCRAM_LOGIN = {"security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512"}
# Connect's own clients, and those that it makes for connectors.
PREFIXES = ("", "producer.", "consumer.", "admin.")
DIRECTORY = "org.apache.kafka.common.config.provider.DirectoryConfigProvider"


def consumer_group(job: str) -> str:
    """The consumer group of a job, so that it can be granted by name."""
    return f"lake_{job}"


def jaas(user: str, password: str) -> str:
    """The login by user name and password; neither may have a quotation mark or a backslash."""
    return f'{SCRAM_MODULE} required username="{user}" password="{password}";'


def directory(folder: Path) -> dict[str, str]:
    """The provider of settings with which a client reads the files of a folder: ${directory:<folder>:<file>}."""
    named = "config.providers.directory"
    return {"config.providers": "directory", f"{named}.class": DIRECTORY, f"{named}.param.allowed.paths": str(folder)}


def by_secret(region: str, secret: str) -> dict[str, str]:
    """The login of a job on EMR by a secret of Secrets Manager, which each of its JVMs reads: no option has a password.

    secret: its name or ARN.
    """
    named = "config.providers.secrets"
    return {
        **SCRAM_LOGIN,
        "sasl.jaas.config": jaas("${secrets:kafka:username}", "${secrets:kafka:password}"),
        "config.providers": "secrets",
        f"{named}.class": "lake.stream.SecretsByCli",
        f"{named}.param.region": region,
        f"{named}.param.secrets": f"kafka={secret}",
    }


def local_clients(environment: Environment, user: str) -> dict[str, str]:
    """The settings of the product's clients: Connect and the jobs. The lake's own tools use the plain listener."""
    if environment.has_roles:
        return {**IAM_LOGIN, **_secured(environment, environment.iam)}
    if environment.has_users:
        read = {"sasl.jaas.config": f"${{directory:{environment.scram / user}:jaas}}"}
        return {**SCRAM_LOGIN, **read, **_secured(environment, environment.scram)}
    return {"bootstrap.servers": environment.kafka_bootstrap}


def _secured(environment: Environment, folder: Path) -> dict[str, str]:
    """No authority signs a certificate of this machine."""
    trust = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(folder / "broker.pem")}
    return {"bootstrap.servers": environment.kafka_login, **trust}


def local_job(environment: Environment, job: str) -> dict[str, str]:
    """The same for a Spark job, as Spark's Kafka source takes them; under its own group where that needs a right."""
    group = {"group.id": consumer_group(job)} if environment.has_roles or environment.has_users else {}
    reader = directory(environment.scram / JOBS) if environment.has_users else {}
    return for_spark({**local_clients(environment, JOBS), **group, **reader})


def for_spark(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings of a client as Spark's Kafka source takes them."""
    return {f"kafka.{key}": value for key, value in settings.items()}
