"""EMR: the cluster and the continuous jobs that write the tables."""

from dataclasses import asdict

from aws_cdk import Aws, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3_assets as assets
from aws_cdk import aws_ssm as ssm
from constructs import Construct
from lake_constructs import kafka_statements
from lake_constructs.catalog import write_tables
from lake_constructs.continuous_job import ContinuousJob
from lake_constructs.database_users import read_secret
from lake_constructs.emr_cluster import EmrCluster
from lake_constructs.emr_configurations import configurations
from lake_constructs.emr_encryption import EmrEncryption
from lake_constructs.emr_roles import NodeRole, ServiceRole, use_disks_key
from lake_constructs.emr_security_groups import EmrSecurityGroups
from lake_constructs.encryption_key import EncryptionKey, use_key
from lake_constructs.ingress_rule import IngressRule
from lake_constructs.job_code import JobCode, script
from lake_constructs.kafka import PORT as KAFKA_PORT
from lake_constructs.metrics import report_metrics
from lake_constructs.plugin_bundle import read_asset
from lake_constructs.private_bucket import write_objects

from lake.aws import steps
from lake.aws.processing import STREAMER
from lake.aws.rendering import STATE, consumer_group, glue_databases, table_topics
from lake.aws.source import roles
from lake.rendering.spark import SESSION
from stacks.connect import ConnectStack
from stacks.network import NetworkStack
from stacks.part import Blueprint, Part
from stacks.source import SourceStack
from stacks.storage import EMR_LOGS, StorageStack
from stacks.streaming import StreamingStack


class ProcessingStack(Part):
    """One cluster; one step per job of the environment."""

    def __init__(
        self,
        scope: Construct,
        blueprint: Blueprint,
        *,
        storage: StorageStack,
        network: NetworkStack,
        source: SourceStack,
        streaming: StreamingStack,
        connect: ConnectStack,
    ) -> None:
        super().__init__(scope, blueprint)
        environment = self.settings
        self._storage, self._source, self._kafka = storage, source, streaming.kafka
        self._disks_key = EncryptionKey(self, "DisksKey", purpose="EMR disks", removal_policy=RemovalPolicy.DESTROY)
        self._code = self._job_code()
        self._templates = {name: self._template(f"pipeline-{name}") for name in environment.processing.jobs}
        self._streamer = self._template("streamer")
        self._reporter = script(self, "Reporter", "report_freshness.py")
        self._bootstrap = script(self, "Bootstrap", "report_on_primary.sh")
        groups = EmrSecurityGroups(self, "Groups", vpc=network.vpc)
        IngressRule(self, "ToKafka", source=groups.nodes, target=self._kafka.security_group, port=KAFKA_PORT)
        IngressRule(self, "ToDatabase", source=groups.nodes, target=source.group, port=source.port)
        self.cluster = self._emr(groups, network.vpc.private_subnets[0].subnet_id)
        outputs = self._sheet(connect.registry_url)
        # The deployment manifest: the command line renders the steps of the same jobs from it.
        ssm.CfnParameter(
            self,
            "Sheet",
            name=steps.parameter(environment.name),
            type="String",
            tier="Intelligent-Tiering",  # up to 4 KiB are free
            value=self.to_json_string(asdict(outputs)),
        )
        for name, job in environment.processing.jobs.items():
            ContinuousJob(
                self,
                f"Job-{name}",
                cluster=outputs.cluster,
                name=name,
                runner=outputs.runner,
                arguments=steps.start(name, job, outputs),
            )

    def _job_code(self) -> JobCode:
        package = self.blueprint.package
        return JobCode(
            self,
            "Code",
            package=package.code,
            jobs=package.jobs,
            jars=package.jars,
            streamer=package.streamer,
            scripts=steps.SCRIPTS,
            starters=steps.STARTERS,
        )

    def _sheet(self, registry: str) -> steps.StackOutputs:
        return steps.StackOutputs(
            region=Aws.REGION,
            cluster=self.cluster.ref,
            package=self._code.package.s3_object_url,
            pools=self._code.pools.s3_object_url,
            jars=[jar.s3_object_url for jar in self._code.jars],
            scripts={name: asset.s3_object_url for name, asset in self._code.scripts.items()},
            starters={name: asset.s3_object_url for name, asset in self._code.starters.items()},
            templates={name: asset.s3_object_url for name, asset in self._templates.items()},
            streamer={"jar": self._code.streamer.s3_object_url, "template": self._streamer.s3_object_url},
            places={
                "brokers": self._kafka.bootstrap_brokers,
                "registry": registry,
                "artifacts": self._storage.artifacts.bucket_name,
                "silver": self._storage.silver.bucket_name,
                "bronze": self._storage.bronze.bucket_name,
            },
            source=f"jdbc:postgresql://{self._source.host}:{self._source.port}",
            secret=self._source.users[roles.VERIFY].secret_arn,
            admin=self._source.admin.secret_arn if self._may_load else "",
        )

    @property
    def _may_load(self) -> bool:
        """True if sample rows may be loaded: only into the database of a throw-away lake."""
        return not self.settings.keep_data and not self.settings.source.existing

    def _template(self, name: str) -> assets.Asset:
        return assets.Asset(self, name.capitalize(), path=str(self.blueprint.package.rendered / f"{name}.json"))

    def _emr(self, groups: EmrSecurityGroups, subnet: str) -> EmrCluster:
        processing, storage = self.settings.processing, self._storage
        nodes = NodeRole(self, "Nodes", statements=self._rights())
        encryption = EmrEncryption(
            self,
            "Encryption",
            name=self.blueprint.name,
            data_key=storage.key,
            disks_key=self._disks_key,
            certificates=processing.certificates,
        )
        return EmrCluster(
            self,
            "Cluster",
            name=self.blueprint.name,
            release=processing.release,
            subnet=subnet,
            groups=groups,
            nodes=nodes,
            service=ServiceRole(self, "Service", nodes=nodes, disks_key=self._disks_key),
            security_configuration=encryption.ref,
            settings=configurations(spark=SESSION, glue=processing.metastore == "glue"),
            bootstrap={self._bootstrap.s3_object_url: self._reported()},
            primary=processing.primary,
            core=processing.core,
            minimum=processing.nodes.minimum,
            maximum=processing.nodes.maximum,
            step_concurrency=processing.step_concurrency,
            idle_minutes=processing.idle_minutes,
            logs=f"s3://{storage.logs.bucket_name}/{EMR_LOGS}/",
        )

    def _reported(self) -> list[str]:
        bucket = self._storage.artifacts.bucket_name
        files = [steps.remembered(bucket, name, "status.json") for name in self.settings.processing.jobs]
        return [self._reporter.s3_object_url, Aws.REGION, self.settings.name, *files]

    def _rights(self) -> list[iam.PolicyStatement]:
        """What the nodes, and so the jobs, may do."""
        storage, groups = self._storage, [consumer_group(name) for name in self.settings.processing.jobs]
        catalog = (
            write_tables(list(glue_databases(self.blueprint.databases)))
            if self.settings.processing.metastore == "glue"
            else []
        )
        return [
            *write_objects(storage.silver, "silver", STREAMER),
            *write_objects(storage.bronze, "bronze"),
            *write_objects(storage.artifacts, STATE),
            *write_objects(storage.logs, EMR_LOGS),
            read_asset(*self._code.parts, *self._templates.values(), self._streamer, self._reporter, self._bootstrap),
            *read_secret(self._source.users[roles.VERIFY], self._source.secrets_key),
            *(read_secret(self._source.admin, self._source.admin_key) if self._may_load else []),
            *self._certificates(),
            use_key(storage.key),
            use_disks_key(self._disks_key),
            kafka_statements.connect(self._kafka, produce=False),
            *kafka_statements.read(self._kafka, table_topics(self.blueprint.databases), groups),
            *catalog,
            report_metrics(),
        ]

    def _certificates(self) -> list[iam.PolicyStatement]:
        if not self.settings.processing.certificates:
            return []
        place = self.settings.processing.certificates.removeprefix("s3://")
        arn = f"arn:{Aws.PARTITION}:s3:::{place}"
        return [iam.PolicyStatement(actions=["s3:GetObject"], resources=[arn])]
