"""Kafka Connect and the schema registry of an AWS environment."""

from typing import Annotated

from pydantic import Field, StrictInt

from lake.aws.part import AllowedNetwork, Part

Replicas = Annotated[StrictInt, Field(ge=1, le=9)]


class Connect(Part):
    """Workers on EKS, which chooses the machines for them."""

    replicas: Replicas = 1
    memory_mb: Annotated[StrictInt, Field(ge=1024, le=65536)] = 2048
    registry_replicas: Replicas = 1
    # Networks that may reach the Kubernetes API from outside the VPC; none: it is reachable from inside only.
    api_access: tuple[AllowedNetwork, ...] = ()
