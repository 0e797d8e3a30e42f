"""Where a lake runs on AWS and how big it is: the typed form of environments/<name>.yaml."""

import re
from pathlib import Path
from typing import Annotated

from pydantic import Field, StrictBool, StrictStr, model_validator

from lake.aws.connect import Connect
from lake.aws.images import Images
from lake.aws.network import Network
from lake.aws.operations import Catalog, Operations
from lake.aws.part import Part, PolicyName, TagKey, TagValue
from lake.aws.processing import Processing
from lake.aws.source import Source
from lake.aws.storage import Storage
from lake.aws.streaming import Streaming
from lake.config.environment import environment_path
from lake.config.errors import BadInput
from lake.config.yaml_file import as_model, check_file_name, read_mapping

LOCAL = "local"
# Three copies of each message, two of them before a write counts: one broker may fail at any time.
REPLICATION_FACTOR = 3
MIN_INSYNC_REPLICAS = 2
MORE_BROKERS = "set streaming.brokers_per_zone or network.availability_zones higher"


class AwsEnvironment(Part):
    """One lake on AWS. The account is never written: it is the one of the credentials at deployment."""

    name: Annotated[StrictStr, Field(pattern=r"^[a-z][a-z0-9]{1,11}$")]
    region: Annotated[StrictStr, Field(pattern=r"^[a-z]{2}(-[a-z]+)+-[1-9]$")]
    # False: `cdk destroy` deletes buckets, database and keys with their content.
    keep_data: StrictBool
    # True: `lake teardown` and `lake rebuild` refuse it.
    protected: StrictBool = False
    # Tags of all resources, in addition to `lake` with the name of the environment.
    tags: dict[TagKey, TagValue] = Field(default_factory=dict)
    # A policy that no role of the lake may exceed, by its name (or path and name) or its ARN.
    permissions_boundary: PolicyName | None = None
    storage: Storage = Storage()
    network: Network = Network()
    source: Source = Source()
    streaming: Streaming = Streaming()
    connect: Connect = Connect()
    images: Images = Images()
    catalog: Catalog = Catalog()
    processing: Processing = Processing()
    operations: Operations

    @model_validator(mode="after")
    def _topics_find_their_brokers(self) -> "AwsEnvironment":
        brokers = self.brokers
        if self.streaming.kind == "provisioned" and brokers < REPLICATION_FACTOR:
            raise ValueError(
                f"{brokers} brokers cannot hold {REPLICATION_FACTOR} copies | "
                + ("take another cluster" if self.streaming.existing else MORE_BROKERS)
            )
        return self

    @model_validator(mode="after")
    def _zones_are_of_the_region(self) -> "AwsEnvironment":
        names = self.network.named_zones
        foreign = [name for name in names if not re.fullmatch(rf"{self.region}[a-z]", name)]
        if foreign:
            raise ValueError(f"'{foreign[0]}' is no zone of {self.region} | write names such as {self.region}a")
        return self

    @model_validator(mode="after")
    def _kept_data_is_safe(self) -> "AwsEnvironment":
        if self.keep_data and not self.source.existing and self.source.backup_days == 0:
            raise ValueError("keep_data without backups of the database | set source.backup_days to 1 or more")
        if self.keep_data and self.processing.idle_minutes:
            raise ValueError("keep_data with a cluster that ends itself | remove processing.idle_minutes")
        return self

    @model_validator(mode="after")
    def _database_stands_once(self) -> "AwsEnvironment":
        if self.source.existing and self.network.source_vpc:
            raise ValueError("source.existing with network.source_vpc | an existing database has its VPC: remove one")
        return self

    @model_validator(mode="after")
    def _cluster_is_reached(self) -> "AwsEnvironment":
        if self.connect.existing and not self.network.existing:
            raise ValueError("connect.existing without network.existing | name the VPC of the cluster there")
        return self

    @model_validator(mode="after")
    def _brokers_are_reached(self) -> "AwsEnvironment":
        found = self.streaming.existing
        if found and not self.network.existing:
            raise ValueError("streaming.existing without network.existing | name the VPC of the brokers there")
        if found and found.region != self.region:
            raise ValueError(f"streaming.existing.arn is of {found.region} | take a cluster of {self.region}")
        return self

    @model_validator(mode="after")
    def _clients_know_the_login(self) -> "AwsEnvironment":
        if not self.streaming.users:
            return self
        if self.connect.kind == "msk_connect":
            what = "streaming.auth scram with connect.kind msk_connect, which logs in by IAM or not at all"
            raise ValueError(f"{what} | take auth: iam, or connect.kind eks")
        if self.processing.serverless:
            what = "streaming.auth scram with processing.kind serverless, whose workers lack the AWS CLI that reads it"
            raise ValueError(f"{what} | take auth: iam, or processing.kind ec2")
        return self

    @model_validator(mode="after")
    def _streamer_reads_what_connect_writes(self) -> "AwsEnvironment":
        if self.processing.streamer.source == "s3_sink" and not self.connect.s3_sink:
            what = "processing.streamer.source is s3_sink, but no sink connector writes it"
            raise ValueError(f"{what} | add connect.s3_sink, or take source: archive")
        return self

    @model_validator(mode="after")
    def _schedule_finds_its_cluster(self) -> "AwsEnvironment":
        if self.operations.schedule and self.processing.idle_minutes:
            raise ValueError(
                "operations.schedule with a cluster that ends itself | it may be gone when a step is due: "
                "remove processing.idle_minutes"
            )
        return self

    @model_validator(mode="after")
    def _lake_formation_guards_glue(self) -> "AwsEnvironment":
        if self.catalog.lake_formation and self.processing.metastore != "glue":
            raise ValueError(
                "catalog.lake_formation with processing.metastore hive | it guards the tables of Glue: remove one"
            )
        return self

    @property
    def kubernetes(self) -> str:
        """The name of the cluster on EKS."""
        return self.connect.existing.name if self.connect.existing else f"lake-{self.name}"

    @property
    def kafka(self) -> str:
        """The name of the cluster on MSK."""
        return self.streaming.existing.name if self.streaming.existing else f"lake-{self.name}"

    @property
    def connect_group(self) -> str:
        """The group of the Connect workers. Its name is the lake's where other workers may use the same brokers."""
        return f"lake-{self.name}-connect" if self.streaming.existing else "connect"

    @property
    def brokers(self) -> int:
        existing = self.streaming.existing
        return existing.brokers or 0 if existing else self.network.zones * self.streaming.brokers_per_zone


def load_aws_environment(root: Path, name: str) -> AwsEnvironment:
    """environments/<name>.yaml (or of LAKE_ENVIRONMENTS_DIR); BadInput names file, line, key and remedy."""
    path = environment_path(root, name)
    if name == LOCAL:
        raise BadInput("the local lake is not deployed", str(path), "name an AWS environment: cdk synth -c env=dev")
    environment = as_model(AwsEnvironment, read_mapping(path), path)
    check_file_name(path, "environment", "name", environment.name)
    return environment
