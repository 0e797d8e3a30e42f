"""Kafka Connect and the schema registry of an AWS environment."""

from typing import Annotated

from pydantic import Field, StrictInt, StrictStr

from lake.aws.part import AllowedNetwork, Count, Part

Replicas = Annotated[StrictInt, Field(ge=1, le=9)]


class Connect(Part):
    """Workers on EKS, which chooses the machines for them."""

    replicas: Replicas = 1
    memory_mb: Annotated[StrictInt, Field(ge=1024, le=65536)] = 2048
    registry_replicas: Replicas = 1
    # Networks that may reach the Kubernetes API from outside the VPC; none: it is reachable from inside only.
    api_access: tuple[AllowedNetwork, ...] = ()
    # The archive of an S3 sink connector that the operator brings, relative to the project folder.
    s3_sink: Annotated[StrictStr, Field(min_length=1)] | None = None
    s3_sink_flush: Count = 10_000
