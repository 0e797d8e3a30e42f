"""The releases of the charts: what each is told, and what its pods may do."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aws_cdk import Stack
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import IDependable
from lake_constructs import kafka_statements
from lake_constructs.chart import NAMESPACE, Chart
from lake_constructs.database_users import read_secret
from lake_constructs.encryption_key import use_key
from lake_constructs.kafka import Kafka
from lake_constructs.plugin_bundle import PluginBundle, read_asset
from lake_constructs.pod_role import PodRole
from lake_constructs.private_bucket import answer_requests, write_objects
from lake_constructs.service_login import ServiceLogin

from lake.aws.images import Name, chart_values, needed
from lake.aws.rendering import (
    INTERNAL_TOPICS,
    REGISTRY_DATABASE,
    REQUESTS,
    SINK,
    Address,
    captured_topics,
    rights_of_users,
    sink_connector,
    source_connector,
    source_sql,
    written_topics,
)
from lake.aws.source import roles
from lake.aws.streaming import CONNECT as KAFKA_CONNECT
from lake.config.definition import Database
from stacks.part import Blueprint
from stacks.source import SourceStack
from stacks.storage import StorageStack

# Charts, releases and service accounts.
PREPARATION, REGISTRY, CONNECT = "source-database", "apicurio-registry", "kafka-connect"
# Further accounts of the chart of Connect.
REQUESTER, HOOK, GIVER = "kafka-connect-requests", "kafka-connect-hook", "kafka-connect-rights"
REGISTRY_PORT, CONNECT_PORT = 8080, 8083
REGISTRY_URL = f"http://{REGISTRY}.{NAMESPACE}.svc:{REGISTRY_PORT}"
# The classes of load balancers that EKS Auto Mode and the AWS Load Balancer Controller make.
NLB_CLASSES = {"auto_mode": "eks.amazonaws.com/nlb", "controller": "service.k8s.aws/nlb"}
# Names from helm/kafka-connect: where its connectors find things.
PASSWORD = "${secrets:database:password}"
CA_FILE = "/etc/lake/worker/database.pem"


@dataclass(frozen=True)
class Kubernetes:
    """The cluster, what must exist before a chart, the group of its pods' logs, and the class of load balancers."""

    cluster: eks.ICluster
    ready: IDependable
    logs: logs.ILogGroup
    balancers: str


@dataclass(frozen=True)
class Logins:
    """Who calls Connect's REST interface, and who writes schemas."""

    operators: ServiceLogin
    writer: ServiceLogin


class Charts:
    """Makes the three releases in the stack. networks: of the lake and of its source; tags: of the load balancer."""

    def __init__(
        self,
        stack: Stack,
        blueprint: Blueprint,
        *,
        kubernetes: Kubernetes,
        storage: StorageStack,
        source: SourceStack,
        kafka: Kafka,
        logins: Logins,
        authorities: str,
        networks: list[str],
    ) -> None:
        self._stack, self._kubernetes, self._storage, self._source, self._kafka = (
            stack,
            kubernetes,
            storage,
            source,
            kafka,
        )
        self._logins, self._authorities, self._networks = logins, authorities, networks
        self._blueprint, self._settings = blueprint, blueprint.environment
        self._databases, self._root, self._region = blueprint.databases, blueprint.root, stack.region
        self._needed = {one.name: one for one in needed(self._root, self._settings.images)}

    def preparation(self) -> Chart:
        """The chart that prepares users, databases and publications in PostgreSQL for the other two charts."""
        users, admin, key = self._source.users, self._source.admin, self._source.secrets_key
        rights = [right for one in users.values() for right in read_secret(one, key)]
        rights += [*read_secret(admin, self._source.admin_key), *read_secret(self._logins.operators, key)]
        secrets = {name: one.secret_arn for name, one in users.items()}
        values = {
            **self._images("postgresql"),
            "database": {
                "host": self._source.host,
                "port": self._source.port,
                "region": self._region,
                "caBundle": self._authorities,
            },
            "secrets": {**secrets, "admin": admin.secret_full_arn or admin.secret_name},
            "sql": source_sql(self._databases),
            "connect": {
                "url": f"http://{CONNECT}:{CONNECT_PORT}",
                "secret": self._logins.operators.secret_arn,
                "connectors": {one.topic_prefix: one.connector for one in self._databases},
            },
            "serviceAccount": {"name": PREPARATION},
            "vpcCidrs": self._networks,
        }
        return self._chart("Preparation", PREPARATION, values, rights)

    def registry(self, group: str, tags: dict[str, str]) -> Chart:
        """group: the security group of its load balancer."""
        secret = self._source.users[roles.REGISTRY]
        values = {
            **self._images("registry"),
            "replicas": self._settings.connect.registry_replicas,
            "database": {
                "host": self._source.host,
                "port": self._source.port,
                "name": REGISTRY_DATABASE,
                "secretName": secret.secret_arn,
                "region": self._region,
                "caBundle": self._authorities,
            },
            "writerSecret": self._logins.writer.secret_arn,
            "serviceAccount": {"name": REGISTRY},
            "internalLoadBalancer": {
                "enabled": True,
                "sourceRanges": [self._settings.network.lake_cidr],
                "class": self._kubernetes.balancers,
                "securityGroups": [group],
                "tags": tags,
            },
            "vpcCidrs": self._networks,
        }
        key = self._source.secrets_key
        return self._chart(
            "Registry", REGISTRY, values, [*read_secret(secret, key), *read_secret(self._logins.writer, key)]
        )

    def connect(self) -> Chart:
        memory = f"{self._settings.connect.memory_mb}Mi"
        bundle = PluginBundle(self._stack, "Plugins", archive=self._blueprint.package.plugins)
        sinks = self._sinks()
        connectors = {**{one.connector: self._connector(one) for one in self._databases}, **sinks}
        group = self._settings.connect_group
        own = [f"{group}-{name}" for name in INTERNAL_TOPICS]
        rights = capture_rights(self._kafka, self._databases, self._source, own, group)
        security, giver = self._login(bundle)
        rights += sink_rights(self._kafka, self._databases, sinks, self._storage) if sinks else []
        key = self._source.secrets_key
        may_call = read_secret(self._logins.operators, key)
        rights += [*read_secret(self._logins.writer, key), *may_call]
        rights += read_secret(self._source.hashes, key) if self._source.hashes else []
        # The pod that performs operators' requests to Connect; the requests are on S3.
        requested = [*answer_requests(self._storage.artifacts, REQUESTS), use_key(self._storage.key), *may_call]
        requester = self._role("Requester", REQUESTER, requested)
        hook = self._role("Hook", HOOK, may_call)
        values = {
            **self._images("kafka"),
            "replicas": self._settings.connect.replicas,
            "group": group,
            "bootstrapServers": self._kafka.bootstrap_brokers,
            "registryUrl": REGISTRY_URL,
            "pluginBundle": {
                "bucket": bundle.s3_bucket_name,
                "key": bundle.s3_object_key,
                "sha256": bundle.sha256,
                "region": self._region,
            },
            **security,
            "databaseSecret": self._source.users[roles.CAPTURE].secret_arn,
            "registrySecret": self._logins.writer.secret_arn,
            **({"hashesSecret": self._source.hashes.secret_arn} if self._source.hashes else {}),
            "restSecret": self._logins.operators.secret_arn,
            "hook": {"serviceAccount": HOOK},
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
        return self._chart("Connect", CONNECT, values, [*rights, read_asset(bundle)], requester, hook, *giver)

    def _login(self, bundle: PluginBundle) -> tuple[dict[str, object], list[PodRole]]:
        """How the workers log in to Kafka. Its users get their rights from a pod with a role of its own."""
        if self._kafka.users is None:
            return {"security": {"protocol": "MSK_IAM"}}, []
        secret = self._kafka.users.secrets[KAFKA_CONNECT].secret_arn
        granted = rights_of_users(self._databases, self._settings)
        rights = {"bootstrapServers": self._kafka.iam_brokers, "serviceAccount": GIVER, "granted": granted}
        giver = self._role("Rights", GIVER, [kafka_statements.give_rights(self._kafka), read_asset(bundle)])
        return {"security": {"protocol": "SCRAM", "scramSecret": secret}, "rights": rights}, [giver]

    def _connector(self, database: Database) -> dict[str, str]:
        address, checked = Address(self._source.host, self._source.port, PASSWORD), tls(self._authorities)
        return source_connector(
            self._root, database, self._settings, address=address, registry=REGISTRY_URL, tls=checked
        )

    def _sinks(self) -> dict[str, dict[str, str]]:
        """The connectors that archive on S3, if the operator provides their plug-in."""
        places = {"bucket": self._storage.bronze.bucket_name, "region": self._region, "registry": REGISTRY_URL}
        databases = self._databases if self._settings.connect.s3_sink else []
        return dict(sink_connector(self._root, one, **places) for one in databases)

    def _images(self, main: Name) -> dict[str, object]:
        return chart_values(self._needed, self._settings.images, main)

    def _role(self, id: str, account: str, statements: list[iam.PolicyStatement]) -> PodRole:
        place = {"cluster": self._kubernetes.cluster, "namespace": NAMESPACE, "service_account": account}
        return PodRole(self._stack, f"{id}Role", statements=statements, **place)

    def _chart(
        self, id: str, name: str, values: dict[str, object], statements: list[iam.PolicyStatement], *others: PodRole
    ) -> Chart:
        """A chart, and the role of its pods. others: roles of further accounts."""
        role = self._role(id, name, statements)
        chart = Chart(
            self._stack,
            f"{id}Chart",
            cluster=self._kubernetes.cluster,
            folder=self._root / "helm" / name,
            values=values,
        )
        # A pod that starts before its role's association never gets the role.
        chart.node.add_dependency(role, *others, self._kubernetes.ready)
        return chart


def tls(authorities: str) -> dict[str, str]:
    """TLS settings of Debezium: it verifies the server if the authority is known."""
    checked = {"database.sslmode": "verify-full", "database.sslrootcert": CA_FILE}
    return checked if authorities else {"database.sslmode": "require"}


def capture_rights(
    kafka: Kafka, databases: list[Database], source: SourceStack, own: Sequence[str], group: str
) -> list[iam.PolicyStatement]:
    """own: the topics of the workers themselves; group: theirs."""
    password = read_secret(source.users[roles.CAPTURE], source.secrets_key)
    if kafka.users:
        return [*kafka.users.read(KAFKA_CONNECT), *password]
    return [
        kafka_statements.connect(kafka, produce=True),
        kafka_statements.write(kafka, written_topics(databases)),
        *kafka_statements.keep_state(kafka, own, group),
        *password,
    ]


def sink_rights(
    kafka: Kafka, databases: list[Database], sinks: Iterable[str], storage: StorageStack
) -> list[iam.PolicyStatement]:
    groups = [f"connect-{name}" for name in sinks]  # Connect's own naming
    return [
        *([] if kafka.users else kafka_statements.read(kafka, captured_topics(databases), groups)),
        *write_objects(storage.bronze, SINK),
        use_key(storage.key),
    ]
