"""Kafka of an AWS environment: provisioned MSK, or MSK Serverless."""

from typing import Annotated, Literal

from pydantic import Field, StrictInt, StrictStr, model_validator

from lake.aws.part import Count, Part

PROVISIONED_ONLY = ("broker", "brokers_per_zone", "volume_gb", "max_volume_gb")


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
    partitions: Count = 1  # fixed for the life of a topic: a key must stay in one partition

    @model_validator(mode="after")
    def _fits(self) -> "Streaming":
        if self.kind == "serverless":
            self.refuse_beside("kind: serverless", PROVISIONED_ONLY)
        elif self.disk_limit_gb < self.volume_gb:
            raise ValueError(
                f"max_volume_gb {self.max_volume_gb} is less than volume_gb {self.volume_gb} | raise it, or remove it"
            )
        return self

    @property
    def disk_limit_gb(self) -> int:
        return self.max_volume_gb or min(2 * self.volume_gb, 16384)
