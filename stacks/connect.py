"""Kafka Connect and the schema registry on Kubernetes, from this repository's charts."""

import json
from collections.abc import Iterable

from aws_cdk import RemovalPolicy
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct
from lake_constructs import kafka_statements
from lake_constructs.chart import NAMESPACE, Chart
from lake_constructs.container_logs import ContainerLogs
from lake_constructs.database_users import read_secret
from lake_constructs.encryption_key import EncryptionKey, use_key
from lake_constructs.ingress_rule import IngressRule
from lake_constructs.kafka import PORT as KAFKA_PORT
from lake_constructs.kafka import Kafka
from lake_constructs.kubernetes_cluster import KubernetesCluster
from lake_constructs.plugin_bundle import PluginBundle, read_asset
from lake_constructs.pod_role import PodRole
from lake_constructs.private_bucket import answer_requests, write_objects

from lake.aws.authorities import authorities
from lake.aws.rendering import (
    REGISTRY_DATABASE,
    REQUESTS,
    SINK,
    Address,
    captured_topics,
    sink_connector,
    source_connector,
    source_sql,
    written_topics,
)
from lake.aws.source import roles
from lake.config import versions
from lake.config.definition import Database
from stacks.network import NetworkStack
from stacks.part import Blueprint, Part
from stacks.source import SourceStack
from stacks.storage import StorageStack
from stacks.streaming import StreamingStack

# Charts, releases and service accounts.
PREPARATION, REGISTRY, CONNECT = "source-database", "apicurio-registry", "kafka-connect"
REQUESTER = "kafka-connect-requests"  # the second account of the chart of Connect
REGISTRY_PORT, CONNECT_PORT = 8080, 8083
REGISTRY_URL = f"http://{REGISTRY}.{NAMESPACE}.svc:{REGISTRY_PORT}"
# Names from helm/kafka-connect: the worker's own topics, its group, and the path of the capture user's password.
INTERNAL_TOPICS = ("connect-configs", "connect-offsets", "connect-status")
GROUP = "connect"
PASSWORD = "${directory:/run/lake/database:password}"
CA_FILE = "/etc/lake/worker/database.pem"


class ConnectStack(Part):
    """The capture side: the cluster, the registry, the workers and their connectors."""

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
        self._databases, self._root = blueprint.databases, blueprint.root
        self._source, self._kafka, self._storage = source, streaming.kafka, storage
        self._tags = {"lake": self.settings.name}  # of what Kubernetes makes, as CloudFormation's own
        self.cluster = KubernetesCluster(
            self,
            "Kubernetes",
            name=blueprint.name,
            version=versions.KUBERNETES,
            vpc=network.vpc,
            api_access=self.settings.connect.api_access,
            administrators=self.settings.connect.administrators,
            namespace=NAMESPACE,
            key=EncryptionKey(self, "Key", purpose="Kubernetes secrets", removal_policy=blueprint.removal),
            log_settings=storage.log_settings,
            tags=self._tags,
            removal_policy=RemovalPolicy.DESTROY,  # holds no data: everything is installed again from here
        )
        self.logs = ContainerLogs(
            self,
            "Logs",
            cluster=self.cluster,
            cluster_name=blueprint.name,
            log_settings=storage.log_settings,
            insights=self.settings.connect.container_insights,
        )
        self.logs.addon.node.add_dependency(self.cluster.nodes)  # its pods need nodes
        workers = self.cluster.cluster_security_group
        to_database = IngressRule(self, "ToDatabase", source=workers, target=source.group, port=source.port)
        IngressRule(self, "ToKafka", source=workers, target=self._kafka.security_group, port=KAFKA_PORT)
        self._authorities = authorities(blueprint.root, self.settings)
        apart = self.settings.network.source_vpc
        self._networks = [self.settings.network.lake_cidr, *([apart.cidr] if apart else [])]
        preparation = self._preparation()
        preparation.node.add_dependency(to_database)
        registry = self._registry()
        registry.node.add_dependency(preparation)  # the registry needs its user and its database
        self._connect().node.add_dependency(registry)
        self.registry_url = registry_from_outside(self, self.cluster, registry)

    def _preparation(self) -> Chart:
        """The chart that prepares users, databases and publications in PostgreSQL for the other two charts."""
        users, admin, key = self._source.users, self._source.admin, self._source.secrets_key
        rights = [right for one in users.values() for right in read_secret(one, key)]
        rights += read_secret(admin, self._source.admin_key)
        secrets = {name: one.secret_arn for name, one in users.items()}
        values = {
            "image": {"tag": versions.POSTGRESQL},
            "database": {
                "host": self._source.host,
                "port": self._source.port,
                "region": self.region,
                "caBundle": self._authorities,
            },
            "secrets": {**secrets, "admin": admin.secret_full_arn or admin.secret_name},
            "sql": source_sql(self._databases),
            "connect": {
                "url": f"http://{CONNECT}:{CONNECT_PORT}",
                "connectors": {one.database: one.connector for one in self._databases},
            },
            "serviceAccount": {"name": PREPARATION},
            "vpcCidrs": self._networks,
        }
        return self._chart("Preparation", PREPARATION, values, rights)

    def _registry(self) -> Chart:
        secret = self._source.users[roles.REGISTRY]
        values = {
            "image": {"tag": versions.from_pom(self._root, "apicurio")},
            "replicas": self.settings.connect.registry_replicas,
            "database": {
                "host": self._source.host,
                "port": self._source.port,
                "name": REGISTRY_DATABASE,
                "secretName": secret.secret_arn,
                "region": self.region,
                "caBundle": self._authorities,
            },
            "serviceAccount": {"name": REGISTRY},
            "internalLoadBalancer": {
                "enabled": True,
                "sourceRanges": [self.settings.network.lake_cidr],
                "tags": self._tags,
            },
            "vpcCidrs": self._networks,
        }
        return self._chart("Registry", REGISTRY, values, read_secret(secret, self._source.secrets_key))

    def _connect(self) -> Chart:
        memory = f"{self.settings.connect.memory_mb}Mi"
        bundle = PluginBundle(self, "Plugins", archive=self.blueprint.package.plugins)
        sinks = self._sinks()
        connectors = {**{one.connector: self._connector(one) for one in self._databases}, **sinks}
        rights = capture_rights(self._kafka, self._databases, self._source)
        rights += sink_rights(self._kafka, self._databases, sinks, self._storage) if sinks else []
        # The pod that performs operators' requests to Connect; the requests are on S3.
        requested = [*answer_requests(self._storage.artifacts, REQUESTS), use_key(self._storage.key)]
        requester = self._role("Requester", REQUESTER, requested)
        values = {
            "image": {"tag": versions.from_pom(self._root, "kafka")},
            "replicas": self.settings.connect.replicas,
            "bootstrapServers": self._kafka.bootstrap_brokers,
            "registryUrl": REGISTRY_URL,
            "pluginBundle": {
                "bucket": bundle.s3_bucket_name,
                "key": bundle.s3_object_key,
                "sha256": bundle.sha256,
                "region": self.region,
            },
            "security": {"protocol": "MSK_IAM"},
            "databaseSecret": self._source.users[roles.CAPTURE].secret_arn,
            "databasePort": self._source.port,
            "databaseCaBundle": self._authorities,
            "connectors": {name: json.dumps(settings) for name, settings in connectors.items()},
            "requests": {
                "bucket": self._storage.artifacts.bucket_name,
                "prefix": REQUESTS,
                "serviceAccount": REQUESTER,
            },
            "serviceAccount": {"name": CONNECT},
            "vpcCidrs": self._networks,
            "resources": {"requests": {"cpu": "500m", "memory": memory}, "limits": {"memory": memory}},
        }
        return self._chart("Connect", CONNECT, values, [*rights, read_asset(bundle)], requester)

    def _connector(self, database: Database) -> dict[str, str]:
        address, checked = Address(self._source.host, self._source.port, PASSWORD), tls(self._authorities)
        return source_connector(
            self._root, database, self.settings, address=address, registry=REGISTRY_URL, tls=checked
        )

    def _sinks(self) -> dict[str, dict[str, str]]:
        """The connectors that archive on S3, if the operator provides their plug-in."""
        places = {"bucket": self._storage.bronze.bucket_name, "region": self.region, "registry": REGISTRY_URL}
        databases = self._databases if self.settings.connect.s3_sink else []
        return dict(sink_connector(self._root, one, **places) for one in databases)

    def _role(self, id: str, account: str, statements: list[iam.PolicyStatement]) -> PodRole:
        place = {"cluster": self.cluster, "namespace": NAMESPACE, "service_account": account}
        return PodRole(self, f"{id}Role", statements=statements, **place)

    def _chart(
        self, id: str, name: str, values: dict[str, object], statements: list[iam.PolicyStatement], *others: PodRole
    ) -> Chart:
        """A chart, and the role of its pods. others: roles of further accounts."""
        role = self._role(id, name, statements)
        chart = Chart(self, f"{id}Chart", cluster=self.cluster, folder=self._root / "helm" / name, values=values)
        # A pod that starts before its role's association never gets the role.
        chart.node.add_dependency(role, *others, self.cluster.nodes)
        return chart


def tls(authorities: str) -> dict[str, str]:
    """TLS settings of Debezium: it verifies the server if the authority is known."""
    checked = {"database.sslmode": "verify-full", "database.sslrootcert": CA_FILE}
    return checked if authorities else {"database.sslmode": "require"}


def capture_rights(kafka: Kafka, databases: list[Database], source: SourceStack) -> list[iam.PolicyStatement]:
    return [
        kafka_statements.connect(kafka, produce=True),
        kafka_statements.write(kafka, written_topics(databases)),
        *kafka_statements.keep_state(kafka, INTERNAL_TOPICS, GROUP),
        *read_secret(source.users[roles.CAPTURE], source.secrets_key),
    ]


def sink_rights(
    kafka: Kafka, databases: list[Database], sinks: Iterable[str], storage: StorageStack
) -> list[iam.PolicyStatement]:
    groups = [f"connect-{name}" for name in sinks]  # Connect's own naming
    return [
        *kafka_statements.read(kafka, captured_topics(databases), groups),
        *write_objects(storage.bronze, SINK),
        use_key(storage.key),
    ]


def registry_from_outside(scope: Construct, cluster: eks.Cluster, registry: Chart) -> str:
    """The address of the internal load balancer, which Kubernetes creates and CloudFormation cannot name."""
    address = eks.KubernetesObjectValue(
        scope,
        "RegistryAddress",
        cluster=cluster,
        object_type="service",
        object_name=f"{REGISTRY}-internal",
        object_namespace=NAMESPACE,
        json_path=".status.loadBalancer.ingress[0].hostname",
    )
    address.node.add_dependency(registry)
    return f"http://{address.value}:{REGISTRY_PORT}"
