"""Kafka of an AWS environment: provisioned MSK, or MSK Serverless; a new cluster, or one that exists."""

from typing import Annotated, Literal

from pydantic import Field, StrictInt, StrictStr, model_validator

from lake.aws.part import Count, GroupId, Part
from lake.rendering.kafka_acls import CONNECT as CONNECT
from lake.rendering.kafka_acls import JOBS as JOBS

PROVISIONED_ONLY = ("broker", "brokers_per_zone", "volume_gb", "max_volume_gb")
USERS = (CONNECT, JOBS)  # of Kafka, where clients log in by name and password


class ExistingKafka(Part):
    """A cluster of others on MSK, in which IAM is a way to log in. arn: its own, not that of a topic."""

    arn: Annotated[
        StrictStr, Field(pattern=r"^arn:aws[a-z-]*:kafka:[a-z0-9-]+:[0-9]{12}:cluster/[0-9A-Za-z-]{1,64}/[0-9a-f-]+$")
    ]
    security_group: GroupId  # of its brokers
    # How many there are, for alarms; of a provisioned cluster only.
    brokers: Annotated[StrictInt, Field(ge=1, le=90)] | None = None

    @property
    def path(self) -> str:
        """NAME/ID, with which the ARNs of its topics go on."""
        return self.arn.partition(":cluster/")[2]

    @property
    def name(self) -> str:
        return self.path.partition("/")[0]

    @property
    def region(self) -> str:
        return self.arn.split(":")[3]


class Streaming(Part):
    """Brokers, and how long they keep the topics."""

    kind: Literal["provisioned", "serverless"] = "provisioned"
    broker: Annotated[StrictStr, Field(pattern=r"^kafka\.(t3\.small|m5\.[0-9]*x?large|m7g\.[0-9]*x?large)$")] = (
        "kafka.t3.small"
    )
    brokers_per_zone: Annotated[StrictInt, Field(ge=1, le=5)] = 2
    volume_gb: Annotated[StrictInt, Field(ge=10, le=16384)] = 50
    # How far the disk of a broker may grow; none: to twice volume_gb.
    max_volume_gb: Annotated[StrictInt, Field(ge=10, le=16384)] | None = None
    # A week: after a longer outage of the readers changes are lost, and tables need a new snapshot.
    retention_hours: Annotated[StrictInt, Field(ge=168, le=8760)] = 168
    # How Connect and the jobs log in. scram: by name and password, with rights in Kafka's own ACLs.
    auth: Literal["iam", "scram"] = "iam"
    partitions: Count = 1  # fixed for the life of a topic: a key must stay in one partition
    existing: ExistingKafka | None = None

    @model_validator(mode="after")
    def _login_is_known(self) -> "Streaming":
        if self.auth == "iam":
            return self
        if self.kind == "serverless":
            raise ValueError("auth: scram with kind: serverless, which knows no login but IAM | remove one of them")
        if self.existing:
            what = "auth: scram with existing: who logs in to a cluster of others, and how, is up to its owner"
            raise ValueError(f"{what} | take auth: iam")
        return self

    @model_validator(mode="after")
    def _fits(self) -> "Streaming":
        if self.existing:
            self.refuse_beside("existing", PROVISIONED_ONLY)
            self._brokers_are_known(self.existing.brokers)
        elif self.kind == "serverless":
            self.refuse_beside("kind: serverless", PROVISIONED_ONLY)
        elif self.disk_limit_gb < self.volume_gb:
            raise ValueError(
                f"max_volume_gb {self.max_volume_gb} is less than volume_gb {self.volume_gb} | raise it, or remove it"
            )
        return self

    def _brokers_are_known(self, brokers: int | None) -> None:
        if self.kind == "provisioned" and brokers is None:
            raise ValueError("existing of kind provisioned without its brokers | add existing.brokers, their number")
        if self.kind == "serverless" and brokers is not None:
            raise ValueError("existing.brokers has no effect with kind: serverless | remove it")

    @property
    def users(self) -> tuple[str, ...]:
        """Those who log in to Kafka by name and password; none where all do so by IAM."""
        return USERS if self.auth == "scram" else ()

    @property
    def disk_limit_gb(self) -> int:
        return self.max_volume_gb or min(2 * self.volume_gb, 16384)


def secret_name(environment: str, user: str) -> str:
    """The secret of a user of Kafka. MSK asks for the prefix."""
    return f"AmazonMSK_lake-{environment}-{user}"
