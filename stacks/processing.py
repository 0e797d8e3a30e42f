"""EMR: the cluster and the continuous jobs that write the tables."""

from collections.abc import Mapping
from dataclasses import asdict

from aws_cdk import Aws, CfnParameter, RemovalPolicy, Stack
from aws_cdk import aws_emr as emr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_ssm as ssm
from constructs import Construct
from lake_constructs import kafka_statements
from lake_constructs.catalog import write_tables
from lake_constructs.database_users import read_secret
from lake_constructs.emr_cluster import EmrCluster
from lake_constructs.emr_configurations import configurations
from lake_constructs.emr_encryption import EmrEncryption
from lake_constructs.emr_roles import NodeRole, ServiceRole, use_disks_key
from lake_constructs.emr_security_groups import EmrSecurityGroups
from lake_constructs.encryption_key import EncryptionKey, use_key
from lake_constructs.ingress_rule import IngressRule
from lake_constructs.job_code import JobCode
from lake_constructs.job_restarts import JOB, JobRestarts
from lake_constructs.kafka import PORT as KAFKA_PORT
from lake_constructs.lake_formation import Grants
from lake_constructs.metrics import report_metrics
from lake_constructs.plugin_bundle import read_asset
from lake_constructs.private_bucket import read_objects, write_below, write_objects
from lake_constructs.ready_steps import ReadySteps
from lake_constructs.step_schedules import StepSchedules

from lake.aws import steps
from lake.aws.processing import STREAMER
from lake.aws.rendering import REFINED, SINK, STATE, captured_topics, consumer_group, glue_databases
from lake.aws.routines import job_steps, parameter, routines, scheduled
from lake.aws.source import roles
from lake.aws.table_jobs import table_jobs
from lake.rendering import sales
from lake.rendering.spark import ATTEMPTS, SESSION
from stacks.capture import CaptureStack
from stacks.charts import REGISTRY_PORT
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
        connect: CaptureStack,
    ) -> None:
        super().__init__(scope, blueprint)
        self._storage, self._source, self._kafka = storage, source, streaming.kafka
        self._disks_key = EncryptionKey(self, "DisksKey", purpose="EMR disks", removal_policy=RemovalPolicy.DESTROY)
        package = blueprint.package
        layered = self.settings.processing.layered
        self._tables = table_jobs(self.settings.processing, blueprint.databases)
        templates = {name: package.rendered / f"pipeline-{name}.json" for name in layered}
        self._code = JobCode(
            self,
            "Code",
            package=package.code,
            jobs=package.jobs,
            jars=package.jars,
            streamer=package.streamer,
            scripts=[one for one in steps.SCRIPTS if one != steps.LOAD or self._may_load],
            starters=steps.STARTERS,
            templates={**templates, STREAMER: package.rendered / f"{STREAMER}.json"},
        )
        # CloudFormation does not see that a cluster has ended itself. With another number it makes another cluster.
        self._number = CfnParameter(self, steps.NUMBER, type="Number", default=1, min_value=1)
        groups = EmrSecurityGroups(self, "Groups", vpc=network.vpc)
        IngressRule(self, "ToKafka", source=groups.nodes, target=self._kafka.security_group, port=KAFKA_PORT)
        IngressRule(self, "ToDatabase", source=groups.nodes, target=source.group, port=source.port)
        IngressRule(self, "ToRegistry", source=groups.nodes, target=connect.registry_group, port=REGISTRY_PORT)
        self.cluster = self._emr(groups, network.vpc.private_subnets[0].subnet_id)
        outputs = self._outputs(connect.registry_url)
        # The deployment manifest: the command line renders the steps of the same jobs from it.
        ssm.CfnParameter(
            self,
            "Sheet",
            name=steps.parameter(self.settings.name),
            type="String",
            tier="Intelligent-Tiering",  # up to 4 KiB are free
            value=self.to_json_string(asdict(outputs)),
        )
        # Other stacks read the id here: an output that they import could not change with the cluster.
        ssm.CfnParameter(
            self, "ClusterId", name=cluster_parameter(self.settings.name), type="String", value=self.cluster.ref
        )
        commands = {name: steps.start(name, job, outputs) for name, job in layered.items()}
        streamer = self.settings.processing.streamer
        commands |= {one.name: steps.start_table(one, streamer, outputs) for one in self._tables}
        self._offer_steps(commands, outputs)
        for name, command in commands.items():
            # The arguments hold the hashes of the job's files: only a change of the code makes a new step.
            emr.CfnStep(
                self,
                f"Job-{name}",
                name=name,
                job_flow_id=outputs.cluster,
                action_on_failure="CONTINUE",
                hadoop_jar_step={"jar": steps.RUNNER, "args": command},
            )
        self.restarts = JobRestarts(
            self,
            "Restarts",
            cluster=self.cluster.ref,
            bucket=storage.artifacts,
            status=steps.remembered_key(JOB, "status.json"),
            jobs=list(commands),
            logs=storage.log_settings,
        )

    def _offer_steps(self, jobs: Mapping[str, list[str]], outputs: steps.StackOutputs) -> None:
        """Steps that are ready to be added, by Airflow or by a schedule. jobs: the commands that start them."""
        environment = self.settings
        ready = routines(environment, self.blueprint.root, outputs)
        offered = {**ready, **job_steps(jobs, outputs)}
        ReadySteps(self, "Steps", steps={parameter(environment.name, name): step for name, step in offered.items()})
        if environment.operations.schedule:
            entries = scheduled(environment, ready)
            StepSchedules(self, "Schedules", name=self.blueprint.name, cluster=outputs.cluster, entries=entries)

    def _outputs(self, registry: str) -> steps.StackOutputs:
        code, storage = self._code, self._storage
        templates = {name: code.templates[name] for name in self.settings.processing.layered}
        jobs = [*templates, *(one.name for one in self._tables)]
        artifacts = storage.artifacts.bucket_name
        status = steps.remembered(artifacts, JOB, "status.json")
        return steps.StackOutputs(
            region=Aws.REGION,
            cluster=self.cluster.ref,
            number=self._number.value_as_string,
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
            reporter={"program": code.reporter, "status": status, "jobs": jobs},
            source=f"jdbc:postgresql://{self._source.host}:{self._source.port}",
            secret=self._source.users[roles.VERIFY].secret_arn,
            admin=self._source.admin.secret_arn if self._may_load else "",
        )

    def cluster_id(self, scope: Construct) -> str:
        """The id of the cluster in another stack, which is then deployed after this one."""
        Stack.of(scope).add_stack_dependency(self)
        return ssm.StringParameter.value_for_string_parameter(scope, cluster_parameter(self.settings.name))

    @property
    def _may_load(self) -> bool:
        """True if sample rows may be loaded: only into the database of a throw-away lake."""
        return not self.settings.keep_data and not self.settings.source.existing

    def _emr(self, groups: EmrSecurityGroups, subnet: str) -> EmrCluster:
        processing, storage, name = self.settings.processing, self._storage, self.blueprint.name
        # Neither a job nor a version of the reporter is in it: with other arguments the cluster would be another one.
        reporting = [Aws.REGION, self.settings.name, steps.parameter(self.settings.name)]
        nodes = NodeRole(self, "Nodes", statements=self._rights())
        if processing.sales:
            iam.Policy(self, "Sales", roles=[nodes], statements=self._rights_on_sales())
        if self.settings.catalog.lake_formation:
            databases = list(glue_databases(self.blueprint.databases))
            place = storage.silver.bucket_arn
            Grants(self, "Tables", role=nodes.role_arn, databases=databases, writes=place, dropped=REFINED)
        keys = {"data_key": storage.key, "disks_key": self._disks_key}
        encryption = EmrEncryption(self, "Encryption", certificates=processing.certificates, **keys)
        return EmrCluster(
            self,
            "Cluster",
            name=f"{name}-{self._number.value_as_string}",
            release_label=processing.release,
            subnet=subnet,
            groups=groups,
            nodes=nodes,
            service=ServiceRole(self, "Service", nodes=nodes, disks_key=self._disks_key),
            security_configuration=encryption.ref,
            settings=configurations(spark=SESSION, attempts=ATTEMPTS, glue=processing.metastore == "glue"),
            bootstrap={self._code.bootstrap: reporting},
            primary=processing.primary,
            core=processing.core,
            minimum=processing.nodes.minimum,
            maximum=processing.nodes.maximum,
            idle_minutes=processing.idle_minutes,
            step_concurrency_level=processing.step_concurrency,
            log_uri=f"s3://{storage.logs.bucket_name}/{EMR_LOGS}/",
        )

    @property
    def _reads_sink(self) -> bool:
        return self.settings.processing.streamer.source == "s3_sink"

    def _rights(self) -> list[iam.PolicyStatement]:
        """What the nodes, and so the jobs, may do."""
        storage, source, processing = self._storage, self._source, self.settings.processing
        databases = self.blueprint.databases
        catalog = write_tables(list(glue_databases(databases)), replaced=REFINED)
        groups = [consumer_group(name) for name in processing.layered]
        return [
            *write_objects(storage.silver, "silver", STREAMER, REFINED),
            *write_objects(storage.bronze, "bronze"),
            *([read_objects(storage.bronze, SINK)] if self._reads_sink else []),
            *write_objects(storage.artifacts, STATE),
            *write_objects(storage.logs, EMR_LOGS),
            read_asset(*self._code.parts),
            read_outputs(self.settings.name),
            *read_secret(source.users[roles.VERIFY], source.secrets_key),
            *(read_secret(source.admin, source.admin_key) if self._may_load else []),
            *([read_certificates(processing.certificates)] if processing.certificates else []),
            use_key(storage.key),
            use_disks_key(self._disks_key),
            kafka_statements.connect(self._kafka, produce=False),
            *kafka_statements.read(self._kafka, captured_topics(databases), groups),
            *(catalog if processing.metastore == "glue" else []),
            report_metrics(),
        ]

    def _rights_on_sales(self) -> list[iam.PolicyStatement]:
        """What the jobs of docs/sales.md may do, in a policy of their own: in one, the CDK would find all too long."""
        groups = [consumer_group(name) for name in sales.GROUPS]
        return [
            write_below(self._storage.silver, sales.FOLDER),
            kafka_statements.produce(self._kafka),
            *kafka_statements.exchange(self._kafka, sales.TOPICS, groups),
        ]


def cluster_parameter(environment: str) -> str:
    return f"/lake/{environment}/cluster"


def read_outputs(environment: str) -> iam.PolicyStatement:
    """Read the parameter with the outputs of the deployment."""
    arn = f"arn:{Aws.PARTITION}:ssm:{Aws.REGION}:{Aws.ACCOUNT_ID}:parameter{steps.parameter(environment)}"
    return iam.PolicyStatement(actions=["ssm:GetParameter"], resources=[arn])


def read_certificates(url: str) -> iam.PolicyStatement:
    arn = f"arn:{Aws.PARTITION}:s3:::{url.removeprefix('s3://')}"
    return iam.PolicyStatement(actions=["s3:GetObject"], resources=[arn])
