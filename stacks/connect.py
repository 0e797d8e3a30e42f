"""Kafka Connect and the schema registry on Kubernetes, from this repository's charts."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_logs as logs
from constructs import Construct
from lake_constructs import metrics
from lake_constructs.chart import NAMESPACE, Chart
from lake_constructs.container_logs import ContainerLogs, CountedFailures, log_group_name
from lake_constructs.encryption_key import EncryptionKey
from lake_constructs.existing_kubernetes import ExistingKubernetes
from lake_constructs.ingress_rule import IngressRule
from lake_constructs.kafka import BY_IAM
from lake_constructs.kubernetes_cluster import KubernetesCluster
from lake_constructs.service_login import ServiceLogin

from lake.aws.authorities import authorities
from lake.aws.connect import ExistingCluster
from lake.aws.part import LAKE_TAG
from lake.aws.rendering import CONNECT_OPERATOR, REGISTRY_WRITER
from lake.config import versions
from stacks.capture import CaptureStack, Vital
from stacks.charts import CONNECT, NLB_CLASSES, REGISTRY, REGISTRY_PORT, Charts, Kubernetes, Logins
from stacks.network import NetworkStack
from stacks.part import Blueprint
from stacks.source import SourceStack
from stacks.storage import StorageStack
from stacks.streaming import StreamingStack

NO_REGISTRY = "No pod of the registry runs: connectors and jobs cannot read schemas. See its pods and its log."
NO_CONNECT = "No pod of Kafka Connect runs: nothing is captured. See its pods and its log."


class ConnectStack(CaptureStack):
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
        self._tags = {LAKE_TAG: self.settings.name, **self.settings.tags}  # of what Kubernetes makes
        found = self.settings.connect.existing
        self._kubernetes = self._adopt(found, network) if found else self._create(storage, network)
        self.failures = CountedFailures(self, "Failures", group=self._kubernetes.logs, lake=blueprint.name)
        workers, kafka = self._kubernetes.cluster.cluster_security_group, streaming.kafka
        to_database = IngressRule(self, "ToDatabase", source=workers, target=source.group, port=source.port)
        IngressRule(self, "ToKafka", source=workers, target=kafka.security_group, port=kafka.port)
        if kafka.users:  # the pod that gives them their rights logs in by IAM
            IngressRule(self, "ToKafkaByIam", source=workers, target=kafka.security_group, port=BY_IAM)
        # Who may connect to the load balancer of the registry: those who add themselves.
        self.registry_group = ec2.SecurityGroup(self, "RegistryGroup", vpc=network.vpc, allow_all_outbound=False)
        inside = ec2.Peer.ipv4(self.settings.network.lake_cidr)
        self.registry_group.add_egress_rule(inside, ec2.Port.tcp(REGISTRY_PORT), "to the pods")
        charts = self._charts(storage, source, streaming)
        preparation = charts.preparation()
        preparation.node.add_dependency(to_database)
        registry = charts.registry(self.registry_group.security_group_id, self._tags)
        registry.node.add_dependency(preparation)  # the registry needs its user and its database
        charts.connect().node.add_dependency(registry)
        self.registry_url = registry_from_outside(self, self._kubernetes.cluster, registry)
        self.vital, self.title = self._pods(), "Pods of registry and Connect"

    def _pods(self) -> list[Vital]:
        """Container Insights count the pods. Only Kubernetes knows the name of the load balancer of the registry."""
        if not self.settings.connect.container_insights:
            return []
        place = (self.blueprint.name, NAMESPACE)
        registry, connect = metrics.running_pods(*place, REGISTRY), metrics.running_pods(*place, CONNECT)
        return [Vital("NoRegistry", registry, NO_REGISTRY), Vital("NoConnect", connect, NO_CONNECT)]

    def _create(self, storage: StorageStack, network: NetworkStack) -> Kubernetes:
        connect = self.settings.connect
        cluster = KubernetesCluster(
            self,
            "Kubernetes",
            name=self.blueprint.name,
            version=versions.KUBERNETES,
            vpc=network.vpc,
            api_access=connect.api_access,
            administrators=connect.administrators,
            namespace=NAMESPACE,
            key=EncryptionKey(self, "Key", purpose="Kubernetes secrets", removal_policy=self.blueprint.removal),
            log_settings=storage.log_settings,
            tags=self._tags,
            removal_policy=RemovalPolicy.DESTROY,  # holds no data: everything is installed again from here
        )
        agent = ContainerLogs(
            self,
            "Logs",
            cluster=cluster,
            cluster_name=self.blueprint.name,
            log_settings=storage.log_settings,
            insights=connect.container_insights,
        )
        agent.addon.node.add_dependency(cluster.nodes)  # its pods need nodes
        return Kubernetes(cluster, cluster.nodes, agent.application, NLB_CLASSES["auto_mode"])

    def _adopt(self, found: ExistingCluster, network: NetworkStack) -> Kubernetes:
        existing = ExistingKubernetes(
            self,
            "Kubernetes",
            name=found.name,
            security_group=found.security_group,
            vpc=network.vpc,
            administrators=self.settings.connect.administrators,
            namespace=NAMESPACE,
        )
        group = logs.LogGroup.from_log_group_name(self, "PodLogs", log_group_name(found.name))
        return Kubernetes(existing.cluster, existing.ready, group, NLB_CLASSES[found.load_balancers])

    def _charts(self, storage: StorageStack, source: SourceStack, streaming: StreamingStack) -> Charts:
        key, apart = source.secrets_key, self.settings.network.source_vpc
        operators = ServiceLogin(self, "ConnectOperators", user=CONNECT_OPERATOR, key=key)
        writer = ServiceLogin(self, "RegistryWriter", user=REGISTRY_WRITER, key=key)
        return Charts(
            self,
            self.blueprint,
            kubernetes=self._kubernetes,
            storage=storage,
            source=source,
            kafka=streaming.kafka,
            logins=Logins(operators, writer),
            authorities=authorities(self.blueprint.root, self.settings),
            networks=[self.settings.network.lake_cidr, *([apart.cidr] if apart else [])],
        )


def registry_from_outside(scope: Construct, cluster: eks.ICluster, registry: Chart) -> str:
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
