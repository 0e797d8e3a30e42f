"""The programs of the charts as tasks on Fargate: the registry, and the preparation of the source."""

from collections.abc import Mapping

from aws_cdk import CustomResource, Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3_assets as assets
from lake_constructs.database_users import read_secret
from lake_constructs.fargate_service import FargateService
from lake_constructs.fargate_task import SHARED, FargateTask
from lake_constructs.log_group import LogSettings
from lake_constructs.managed_connectors import restart_connectors
from lake_constructs.plugin_bundle import read_asset
from lake_constructs.service_login import ServiceLogin
from lake_constructs.task_at_deployment import TaskAtDeployment

from lake.aws.authorities import authorities
from lake.aws.container_files import ASK, AUTHORITIES, PROGRAMS, SQL
from lake.aws.images import needed
from lake.aws.managed_connect import connector_name
from lake.aws.rendering import REGISTRY_DATABASE
from lake.aws.source import roles
from stacks.charts import PREPARATION, REGISTRY, REGISTRY_PORT
from stacks.network import NetworkStack
from stacks.part import Blueprint
from stacks.source import SourceStack

FILES = f"{SHARED}/files"
UNPACK = f"python3 -m zipfile -e {SHARED}/files.zip {FILES}"
MANAGEMENT_PORT, READY = 9000, "/health/ready"  # of the registry
# The users of the images, as in the charts.
PSQL_USER, REGISTRY_USER = "1000", "1001"
EVERY = Duration.minutes(5)
# Its settings, as in the chart; all may read, one user writes.
REGISTRY_SETTINGS = {
    "APICURIO_STORAGE_KIND": "sql",
    "APICURIO_STORAGE_SQL_KIND": "postgresql",
    "SMALLRYE_CONFIG_LOCATIONS": f"{SHARED}/registry.properties",
    "QUARKUS_HTTP_AUTH_BASIC": "true",
    "APICURIO_AUTH_ROLE_BASED_AUTHORIZATION": "true",
    "APICURIO_AUTH_ANONYMOUS_READ_ACCESS_ENABLED": "true",
    "QUARKUS_SECURITY_USERS_EMBEDDED_PLAIN_TEXT": "true",
    "QUARKUS_HTTP_ACCESS_LOG_ENABLED": "false",
    "QUARKUS_OTEL_SDK_DISABLED": "true",
}


class Registry(FargateService):
    """healthy: how many of its tasks answer."""

    @property
    def healthy(self) -> cloudwatch.IMetric:
        return self.targets.metrics.healthy_host_count(statistic="Minimum", period=Duration.minutes(1))


class Containers:
    """Makes the tasks in the stack. group: theirs; logs: by the names of the charts."""

    def __init__(
        self,
        stack: Stack,
        blueprint: Blueprint,
        *,
        cluster: ecs.Cluster,
        network: NetworkStack,
        source: SourceStack,
        group: ec2.ISecurityGroup,
        logs: Mapping[str, logs.ILogGroup],
        log_settings: LogSettings,
    ) -> None:
        self._stack, self._blueprint, self._cluster, self._network = stack, blueprint, cluster, network
        self._source, self._group, self._logs, self._log_settings = source, group, logs, log_settings
        self._images = {one.name: one.reference for one in needed(blueprint.root, blueprint.environment.images)}
        self._checked = bool(authorities(blueprint.root, blueprint.environment))
        self._subnets = network.vpc.private_subnets

    def prepared(self) -> CustomResource:
        """The task that prepares users, databases and publications: at each deployment, and every five minutes."""
        task = self._preparation()
        place = {"cluster": self._cluster, "subnets": self._subnets, "group": self._group}
        log = self._logs[PREPARATION].log_group_name
        settings = self._log_settings
        run = TaskAtDeployment(self._stack, "Prepared", task=task, log=log, log_settings=settings, **place)
        target = targets.EcsTask(
            cluster=self._cluster,
            task_definition=task,
            subnet_selection=ec2.SubnetSelection(subnets=self._subnets),
            security_groups=[self._group],
            assign_public_ip=False,
        )
        rule = events.Rule(self._stack, "Schedule", schedule=events.Schedule.rate(EVERY), targets=[target])
        rule.node.add_dependency(run.done)
        return run.done

    def registry(self, group: ec2.SecurityGroup, writer: ServiceLogin) -> "Registry":
        """group: of its load balancer."""
        inside = ec2.Peer.ipv4(self._blueprint.environment.network.lake_cidr)
        for port in (REGISTRY_PORT, MANAGEMENT_PORT):
            group.add_egress_rule(inside, ec2.Port.tcp(port), "to the tasks")
        return Registry(
            self._stack,
            "Registry",
            vpc=self._network.vpc,
            subnets=ec2.SubnetSelection(subnets=self._subnets),
            cluster=self._cluster,
            task=self._registry(writer),
            port=REGISTRY_PORT,
            health=(READY, MANAGEMENT_PORT),
            replicas=self._blueprint.environment.connect.registry_replicas,
            group=group,
            own_group=self._group,
        )

    def _preparation(self) -> FargateTask:
        source, key = self._source, self._source.secrets_key
        secrets = {**{name: one.secret_arn for name, one in source.users.items()}, "admin": _named(source)}
        rights = [right for one in source.users.values() for right in read_secret(one, key)]
        rights += [*read_secret(source.admin, source.admin_key), *restart_connectors(self._blueprint.name)]
        task = self._task("Preparation", PREPARATION, rights, PSQL_USER, memory_mb=512)
        self._fetch(
            task, "PreparationFiles", PREPARATION, {f"{user}/secret.json": arn for user, arn in secrets.items()}
        )
        connection = f"{SHARED} {source.host} {source.port} {self._mode} '{self._authorities}'"
        self._python(task, "write-logins", f"write_logins.py {connection}")
        psql = ["bash", f"{FILES}/{PROGRAMS}/prepare.sh", f"{FILES}/{SQL}"]
        task.step("prepare", self._images["postgresql"], psql)
        lake = self._blueprint.environment.name
        asked = [f"{one.topic_prefix}={connector_name(lake, one.connector)}" for one in self._blueprint.databases]
        ask = ["bash", f"{FILES}/{PROGRAMS}/{ASK.name}", self._stack.region, *asked]
        task.step("ask-connect", self._images["aws-cli"], ask)
        task.step("ask-for-rows", self._images["postgresql"], psql, last=True)
        return task

    def _registry(self, writer: ServiceLogin) -> FargateTask:
        source, key = self._source, self._source.secrets_key
        user = source.users[roles.REGISTRY]
        rights = [*read_secret(user, key), *read_secret(writer, key)]
        task = self._task("RegistryTask", REGISTRY, rights, REGISTRY_USER, memory_mb=1024)
        secrets = {"database.json": user.secret_arn, "writer.json": writer.secret_arn}
        self._fetch(task, "RegistryFiles", REGISTRY, secrets)
        self._python(task, "write-credentials", f"registry_properties.py {SHARED} {SHARED}/registry.properties")
        tls = f"sslmode={self._mode}" + (f"&sslrootcert={self._authorities}" if self._checked else "")
        url = f"jdbc:postgresql://{source.host}:{source.port}/{REGISTRY_DATABASE}?{tls}"
        settings = {**REGISTRY_SETTINGS, "APICURIO_DATASOURCE_URL": url}
        program = task.program("registry", self._images["registry"], [], settings)
        program.add_port_mappings(*(ecs.PortMapping(container_port=one) for one in (REGISTRY_PORT, MANAGEMENT_PORT)))
        task.default_container = program
        return task

    @property
    def _mode(self) -> str:
        return "verify-full" if self._checked else "require"

    @property
    def _authorities(self) -> str:
        return f"{FILES}/{AUTHORITIES}" if self._checked else ""

    def _task(
        self, id: str, chart: str, rights: list[iam.PolicyStatement], user: str, *, memory_mb: int
    ) -> FargateTask:
        log = self._logs[chart]
        return FargateTask(self._stack, id, statements=rights, log_group=log, user=user, cpu=256, memory_mb=memory_mb)

    def _fetch(self, task: FargateTask, id: str, chart: str, secrets: Mapping[str, str]) -> None:
        """Files of the chart, and secrets by the names of their files."""
        archive = assets.Asset(self._stack, id, path=str(self._blueprint.package.rendered / f"{chart}.zip"))
        task.add_to_task_role_policy(read_asset(archive))
        lines = ['aws s3 cp --region "$REGION" --no-progress "$FILES" files.zip']
        for number, name in enumerate(secrets):
            lines.append(f'mkdir -p "$(dirname {name})"')
            lines.append(
                f'aws secretsmanager get-secret-value --region "$REGION" --secret-id "$SECRET_{number}" '
                f"--query SecretString --output text > {name}"
            )
        arns = {f"SECRET_{number}": arn for number, arn in enumerate(secrets.values())}
        places = {"HOME": "/tmp", "REGION": self._stack.region, "FILES": archive.s3_object_url}
        task.fetch(self._images["aws-cli"], "\n".join(lines), {**places, **arns})

    def _python(self, task: FargateTask, name: str, program: str) -> None:
        command = ["/bin/sh", "-ec", f"{UNPACK}\nexec python3 {FILES}/{PROGRAMS}/{program}"]
        task.step(name, self._images["python"], command)


def _named(source: SourceStack) -> str:
    return source.admin.secret_full_arn or source.admin.secret_name
