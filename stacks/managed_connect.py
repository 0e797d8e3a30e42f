"""Connectors on MSK Connect; the registry and the preparation of the source as tasks on Fargate. No Kubernetes."""

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from constructs import Construct
from lake_constructs import metrics
from lake_constructs.container_logs import CountedFailures
from lake_constructs.database_users import read_secret
from lake_constructs.ingress_rule import IngressRule
from lake_constructs.managed_connectors import OWN, ManagedConnectors
from lake_constructs.plugin_bundle import PluginBundle
from lake_constructs.service_log_group import ServiceLogGroup
from lake_constructs.service_login import ServiceLogin

from lake.aws.authorities import authorities
from lake.aws.managed_connect import connector_name, connector_settings, tls, worker_settings
from lake.aws.rendering import REGISTRY_WRITER, Address, source_connector
from lake.aws.service_logs import SERVICES, log_group
from lake.aws.source import roles
from stacks.capture import CaptureStack, Vital
from stacks.charts import CONNECT, PASSWORD, PREPARATION, REGISTRY_PORT, capture_rights
from stacks.containers import Containers
from stacks.network import NetworkStack
from stacks.part import Blueprint
from stacks.source import SourceStack
from stacks.storage import StorageStack
from stacks.streaming import StreamingStack

NO_REGISTRY = "The registry answers nobody: connectors and jobs cannot read schemas. See: lake logs apicurio-registry."
NO_TASK = "A connector runs no task: nothing is captured. See: lake connectors status, lake logs kafka-connect."


class ManagedConnectStack(CaptureStack):
    """The capture side: the preparation of the source, the registry, the connectors."""

    title = "Tasks of the registry and of connectors"

    def __init__(
        self,
        scope: Construct,
        blueprint: Blueprint,
        *,
        storage: StorageStack,
        network: NetworkStack,
        source: SourceStack,
        streaming: StreamingStack,
    ) -> None:
        super().__init__(scope, blueprint)
        self._storage, self._network, self._source, self._kafka = storage, network, source, streaming.kafka
        self._logs = {
            name: ServiceLogGroup(
                self, f"Log-{name}", name=log_group(self.settings.name, name), settings=storage.log_settings
            )
            for name in SERVICES
        }
        self.failures = CountedFailures(
            self, "Failures", group=self._logs[CONNECT], prepared=self._logs[PREPARATION], lake=blueprint.name
        )
        self._writer = ServiceLogin(self, "RegistryWriter", user=REGISTRY_WRITER, key=source.secrets_key)
        self.registry_group = ec2.SecurityGroup(self, "RegistryGroup", vpc=network.vpc, allow_all_outbound=False)
        self._group = ec2.SecurityGroup(self, "ConnectorsGroup", vpc=network.vpc)
        tasks = ec2.SecurityGroup(self, "TasksGroup", vpc=network.vpc)
        to_database, *self._opened = self._open(tasks)
        containers = self._containers(tasks)
        prepared = containers.prepared()
        prepared.node.add_dependency(to_database)
        registry = containers.registry(self.registry_group, self._writer)
        registry.service.node.add_dependency(prepared)
        self.registry_url = f"{registry.url}:{REGISTRY_PORT}"
        names = self._connect(registry)
        running = {name: metrics.running_tasks(connector_name(self.settings.name, name)) for name in names}
        tasks_run = [Vital(f"NoConnect-{name}", count, NO_TASK) for name, count in running.items()]
        self.vital = [Vital("NoRegistry", registry.healthy, NO_REGISTRY), *tasks_run]

    def _open(self, tasks: ec2.ISecurityGroup) -> list[IngressRule]:
        """Who reaches whom: first the tasks, then the connectors."""
        source, kafka, connectors = self._source, self._kafka, self._group
        return [
            IngressRule(self, "TasksToDatabase", source=tasks, target=source.group, port=source.port),
            IngressRule(self, "ToDatabase", source=connectors, target=source.group, port=source.port),
            IngressRule(self, "ToKafka", source=connectors, target=kafka.security_group, port=kafka.port),
            IngressRule(self, "ToRegistry", source=connectors, target=self.registry_group, port=REGISTRY_PORT),
        ]

    def _containers(self, group: ec2.ISecurityGroup) -> Containers:
        return Containers(
            self,
            self.blueprint,
            # Its own metrics would cost; the load balancer says whether the registry answers.
            cluster=ecs.Cluster(self, "Tasks", vpc=self._network.vpc),
            network=self._network,
            source=self._source,
            group=group,
            logs=self._logs,
            log_settings=self._storage.log_settings,
        )

    def _connect(self, registry: Construct) -> list[str]:
        """The names of the connectors."""
        package, settings = self.blueprint.package, self.settings
        source, key = self._source, self._source.secrets_key
        offsets = f"{settings.connect_group}-offsets"
        secrets = {"database": source.users[roles.CAPTURE].secret_arn, "registry": self._writer.secret_arn}
        hashes = {"hashes": source.hashes} if source.hashes else {}
        secrets.update({name: secret.secret_arn for name, secret in hashes.items()})
        databases = self.blueprint.databases
        rights = capture_rights(self._kafka, databases, source, [offsets, OWN], OWN)
        connectors = ManagedConnectors(
            self,
            "MskConnect",
            name=self.blueprint.name,
            kafka=self._kafka,
            bundle=PluginBundle(self, "Plugins", archive=package.plugins),
            worker=worker_settings(self.blueprint.root, offsets=offsets, region=self.region, secrets=secrets),
            statements=[
                *rights,
                *(one for secret in (self._writer, *hashes.values()) for one in read_secret(secret, key)),
            ],
            subnets=self._network.vpc.private_subnets,
            group=self._group,
            log_group=self._logs[CONNECT],
            units=settings.connect.units,
        )
        wanted = self._sources()
        for name, one in wanted.items():
            connector = connectors.add(name, connector_name(settings.name, name), connector_settings(one))
            connector.node.add_dependency(registry, *self._opened)
        return list(wanted)

    def _sources(self) -> dict[str, dict[str, str]]:
        address = Address(self._source.host, self._source.port, PASSWORD)
        known = authorities(self.blueprint.root, self.settings)
        return {
            one.connector: source_connector(
                self.blueprint.root,
                one,
                self.settings,
                address=address,
                registry=self.registry_url,
                tls=tls(known),
            )
            for one in self.blueprint.databases
        }
