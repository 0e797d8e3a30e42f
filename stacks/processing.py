"""The jobs that write the tables, on a cluster of EMR or on EMR Serverless."""

from collections.abc import Mapping
from dataclasses import asdict

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from aws_cdk import aws_ssm as ssm
from constructs import Construct
from lake_constructs.ingress_rule import IngressRule
from lake_constructs.job_code import JobCode
from lake_constructs.lake_formation import Grants
from lake_constructs.own_function import JOB

from lake.aws import steps
from lake.aws.processing import STREAMER
from lake.aws.rendering import REFINED, glue_databases
from lake.aws.source import roles
from lake.aws.streaming import JOBS, secret_name
from lake.aws.table_jobs import table_jobs
from stacks.capture import CaptureStack
from stacks.charts import REGISTRY_PORT
from stacks.job_rights import JobRights
from stacks.network import NetworkStack
from stacks.part import Blueprint, Part
from stacks.source import SourceStack
from stacks.spark import Spark
from stacks.spark_cluster import SparkCluster
from stacks.spark_serverless import SparkServerless
from stacks.storage import StorageStack
from stacks.streaming import StreamingStack


class ProcessingStack(Part):
    """The code of the jobs, what runs them, and the manifest of the deployment."""

    def __init__(
        self,
        scope: Construct,
        blueprint: Blueprint,
        *,
        storage: StorageStack,
        network: NetworkStack,
        source: SourceStack,
        streaming: StreamingStack,
        connect: CaptureStack,
    ) -> None:
        super().__init__(scope, blueprint)
        self._storage, self._source, self._kafka = storage, source, streaming.kafka
        rights = JobRights(blueprint, storage, source, streaming.kafka)
        self._may_load = rights.may_load
        self._code = self._upload()
        kind = SparkServerless if self.settings.processing.serverless else SparkCluster
        self.spark: Spark = kind(self, blueprint, network=network, storage=storage, code=self._code, rights=rights)
        self._grant(rights)
        group = self.spark.group
        IngressRule(self, "ToKafka", source=group, target=self._kafka.security_group, port=self._kafka.port)
        IngressRule(self, "ToDatabase", source=group, target=source.group, port=source.port)
        IngressRule(self, "ToRegistry", source=group, target=connect.registry_group, port=REGISTRY_PORT)
        outputs = self._outputs(connect.registry_url)
        # The deployment manifest: the command line renders the same jobs from it.
        ssm.CfnParameter(
            self,
            "Sheet",
            name=steps.parameter(self.settings.name),
            type="String",
            tier="Intelligent-Tiering",  # up to 4 KiB are free
            value=self.to_json_string(asdict(outputs)),
        )
        self.spark.start(outputs)

    def _upload(self) -> JobCode:
        package, processing = self.blueprint.package, self.settings.processing
        templates = {name: package.rendered / f"pipeline-{name}.json" for name in processing.layered}
        return JobCode(
            self,
            "Code",
            package=package.code,
            jobs=package.jobs,
            jars=package.jars,
            streamer=package.streamer,
            scripts=[one for one in steps.SCRIPTS if one != steps.LOAD or self._may_load],
            starters=() if processing.serverless else steps.STARTERS,
            templates={**templates, STREAMER: package.rendered / f"{STREAMER}.json"},
        )

    def _grant(self, rights: JobRights) -> None:
        """Rights by option: on the topics of sales, and on the tables where Lake Formation asks for them."""
        role = self.spark.role
        if self.settings.processing.sales:
            iam.Policy(self, "Sales", roles=[role], statements=rights.on_sales())
        if self.settings.catalog.lake_formation:
            databases, place = list(glue_databases(self.blueprint.databases)), self._storage.silver.bucket_arn
            Grants(self, "Tables", role=role.role_arn, databases=databases, writes=place, dropped=REFINED)

    def _outputs(self, registry: str) -> steps.StackOutputs:
        code, storage = self._code, self._storage
        templates = {name: code.templates[name] for name in self.settings.processing.layered}
        artifacts = storage.artifacts.bucket_name
        return steps.StackOutputs(
            region=Aws.REGION,
            cluster=self.spark.id,
            number=self.spark.number,
            role=self.spark.service_role,
            name=self.settings.name,
            package=code.package,
            pools=code.pools,
            jars=code.jars,
            scripts=code.scripts,
            starters=code.starters,
            templates=templates,
            streamer={"jar": code.streamer, "template": code.templates[STREAMER]},
            places={
                "brokers": self._kafka.bootstrap_brokers,
                "registry": registry,
                "artifacts": artifacts,
                "silver": storage.silver.bucket_name,
                "bronze": storage.bronze.bucket_name,
            },
            reporter=self._reporter(artifacts),
            source=f"jdbc:postgresql://{self._source.host}:{self._source.port}",
            secret=self._source.users[roles.VERIFY].secret_arn,
            admin=self._source.admin.secret_arn if self._may_load else "",
            hashes=self._source.hashes.secret_arn if self._source.hashes else "",
            kafka_secret=secret_name(self.settings.name, JOBS) if self._kafka.users else "",
        )

    def _reporter(self, artifacts: str) -> Mapping[str, str | list[str]]:
        processing = self.settings.processing
        jobs = [*processing.layered, *(one.name for one in table_jobs(processing, self.blueprint.databases))]
        status = steps.remembered(artifacts, JOB, "status.json")
        return {"program": self._code.reporter, "status": status, "jobs": jobs}
