"""How the clients of Kafka log in: by IAM at MSK, and at a local broker of environment key kafka.auth: iam."""

from lake.config.environment import Environment

IAM_LOGIN = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "AWS_MSK_IAM",
    "sasl.jaas.config": "software.amazon.msk.auth.iam.IAMLoginModule required;",
    "sasl.client.callback.handler.class": "software.amazon.msk.auth.iam.IAMClientCallbackHandler",
}
# Connect's own clients, and those that it makes for connectors.
PREFIXES = ("", "producer.", "consumer.", "admin.")


def consumer_group(job: str) -> str:
    """The consumer group of a job, so that it can be granted by name."""
    return f"lake_{job}"


def local_clients(environment: Environment) -> dict[str, str]:
    """The settings of the product's clients: Connect and the jobs. The lake's own tools use the plain listener."""
    if not environment.has_roles:
        return {"bootstrap.servers": environment.kafka_bootstrap}
    # No authority signs a certificate of this machine.
    trust = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(environment.iam / "broker.pem")}
    return {"bootstrap.servers": environment.kafka_iam, **IAM_LOGIN, **trust}


def local_job(environment: Environment, job: str) -> dict[str, str]:
    """The same for a Spark job, as Spark's Kafka source takes them; under its own group where a role needs a right."""
    group = {"group.id": consumer_group(job)} if environment.has_roles else {}
    return {f"kafka.{key}": value for key, value in {**local_clients(environment), **group}.items()}
