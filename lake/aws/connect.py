"""Kafka Connect and the schema registry of an AWS environment."""

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt, StrictStr, model_validator

from lake.aws.part import AllowedNetwork, GroupId, Part, Role

Replicas = Annotated[StrictInt, Field(ge=1, le=9)]
# Keys that say something of EKS only. MSK Connect runs one worker for each connector, as each has one task.
OF_EKS = ("replicas", "memory_mb", "api_access", "administrators", "container_insights", "existing")


class S3Sink(Part):
    """Confluent's S3 sink connector. Its licence forbids us to distribute it: the operator downloads the archive."""

    archive: Annotated[StrictStr, Field(pattern=r"^.+\.zip$")]  # relative to the project's folder
    sha256: Annotated[StrictStr, Field(pattern=r"^[0-9a-f]{64}$")]


class ExistingCluster(Part):
    """A cluster of others on EKS, with access entries, Pod Identity, CloudWatch's add-on, enforced network policies."""

    name: Annotated[StrictStr, Field(pattern=r"^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$")]
    security_group: GroupId  # that of its pods: in Auto Mode the cluster's own
    # Who makes load balancers there: Auto Mode, or the AWS Load Balancer Controller.
    load_balancers: Literal["auto_mode", "controller"] = "auto_mode"


class Connect(Part):
    """Workers on EKS, which chooses the machines, or on a cluster that exists; or connectors of MSK Connect."""

    kind: Literal["eks", "msk_connect"] = "eks"
    # Of MSK Connect: what the worker of a connector has. A unit is one vCPU and 4 GiB.
    units: Literal[1, 2, 4, 8] = 1
    replicas: Replicas = 1
    memory_mb: Annotated[StrictInt, Field(ge=1024, le=65536)] = 2048
    registry_replicas: Replicas = 1
    # Networks outside the VPC that may reach the Kubernetes API; without any it is reachable from inside only.
    api_access: tuple[AllowedNetwork, ...] = ()
    # Roles of this account, by name or path and name, whose people may use kubectl in the namespace of the lake.
    administrators: tuple[Role, ...] = ()
    # Metrics of all pods and nodes in CloudWatch. They cost extra; logs and alarms need none of them.
    container_insights: StrictBool = False
    existing: ExistingCluster | None = None
    # A second archive of the topics, written by Connect instead of Spark.
    s3_sink: S3Sink | None = None

    @model_validator(mode="after")
    def _fits(self) -> "Connect":
        if self.kind == "msk_connect":
            self.refuse_beside("kind: msk_connect", OF_EKS)
            self._sink_has_its_own_loader()
        else:
            self.refuse_beside("kind: eks", ("units",))
        if self.existing:
            self.refuse_beside("existing", ("api_access", "container_insights"))
        return self

    def _sink_has_its_own_loader(self) -> None:
        if self.s3_sink:
            raise ValueError(
                "s3_sink with kind: msk_connect, which loads a connector and its converters from one plug-in: "
                "both have jars of the same classes in other versions | remove s3_sink, or take kind: eks"
            )
