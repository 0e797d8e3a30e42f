"""MSK's login by user name and password on this machine: the broker's listener, its users, and their rights."""

from collections.abc import Sequence

from lake.clients.kafka_users import Users
from lake.config.definition import Database
from lake.config.environment import Environment
from lake.config.files import replace_file
from lake.local.certificate import certify, listener
from lake.rendering import sales
from lake.rendering.kafka_acls import CONNECT, JOBS, Acl, of_connect, of_jobs, of_sales
from lake.rendering.kafka_login import SCRAM_MODULE, consumer_group, jaas

GROUP = "connect"  # of the workers
LISTENER = "listener.name.scram"


def establish(home: Environment) -> None:
    """A certificate of the broker, and the login of each user; nothing without kafka.auth: scram."""
    if home.has_users:
        certify(home.scram)
        for user, password in passwords(home).items():
            (home.scram / user).mkdir(mode=0o700, exist_ok=True)
            replace_file(home.scram / user / "jaas", jaas(user, password))


def passwords(home: Environment) -> dict[str, str]:
    """By user."""
    return {CONNECT: home.secrets.kafka_connect, JOBS: home.secrets.kafka_jobs}


def broker_settings(home: Environment) -> dict[str, object]:
    """The listener for users, beside the plain one of the lake's own tools, who may do everything."""
    return {
        f"{LISTENER}.sasl.enabled.mechanisms": "SCRAM-SHA-512",
        f"{LISTENER}.scram-sha-512.sasl.jaas.config": f"{SCRAM_MODULE} required;",
        **listener(LISTENER, home.scram),
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": "false",
        "super.users": "User:ANONYMOUS",
    }


def admit(home: Environment) -> None:
    """The users, with their passwords of now, and what Connect needs to start."""
    users = Users(home.kafka_bootstrap)
    users.admit(passwords(home))
    users.grant(list(of_connect([], GROUP)))


def grant(home: Environment, databases: Sequence[Database]) -> None:
    """Exactly the rights that the definition gives to the users."""
    Users(home.kafka_bootstrap).make(rights(databases), list(passwords(home)))


def rights(databases: Sequence[Database]) -> list[Acl]:
    """Of Connect, of the stream, and of the jobs about sales, which every local lake may run."""
    return [
        *of_connect(databases, GROUP),
        *of_jobs(databases, [consumer_group("stream")]),
        *of_sales(sales.TOPICS, [consumer_group(name) for name in sales.GROUPS]),
    ]
