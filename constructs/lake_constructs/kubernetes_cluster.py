"""The Kubernetes cluster that runs Kafka Connect and the schema registry."""

from collections.abc import Mapping, Sequence

from aws_cdk import RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_kms as kms
from aws_cdk.lambda_layer_kubectl_v36 import KubectlV36Layer
from constructs import Construct

from lake_constructs.cluster_nodes import ClusterNodes, NodeRole, tag_what_is_made
from lake_constructs.kubernetes_access import admit, role_arn
from lake_constructs.log_group import LogSettings
from lake_constructs.service_log_group import ServiceLogGroup

# EKS's own pool of nodes for what must not share a node with pods. The others run in our pool.
OWN_POOL = "system"


class KubernetesCluster(eks.Cluster):
    """EKS Auto Mode: AWS manages nodes, load balancers and the Pod Identity agent."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        name: str,
        version: str,
        vpc: ec2.IVpc,
        api_access: Sequence[str],
        administrators: Sequence[str],
        namespace: str,
        key: kms.IKey,
        log_settings: LogSettings,
        tags: Mapping[str, str],
        removal_policy: RemovalPolicy,
    ) -> None:
        public, nodes = eks.EndpointAccess.PUBLIC_AND_PRIVATE, NodeRole(scope, f"{id}Nodes")
        super().__init__(
            scope,
            id,
            cluster_name=name,
            version=eks.KubernetesVersion.of(version),
            vpc=vpc,
            vpc_subnets=[ec2.SubnetSelection(subnets=vpc.private_subnets)],
            default_capacity_type=eks.DefaultCapacityType.AUTOMODE,
            compute=eks.ComputeConfig(node_pools=[OWN_POOL], node_role=nodes),
            # From inside the VPC only, unless the operators' networks are given.
            endpoint_access=public.only_from(*api_access) if api_access else eks.EndpointAccess.PRIVATE,
            secrets_encryption_key=key,
            cluster_logging=list(eks.ClusterLoggingTypes),
            kubectl_provider_options=eks.KubectlProviderOptions(
                kubectl_layer=KubectlV36Layer(scope, f"{id}Kubectl"), private_subnets=vpc.private_subnets
            ),
            removal_policy=removal_policy,
        )
        for statement in tag_what_is_made(name):
            self.role.add_to_principal_policy(statement)
        group = ServiceLogGroup(scope, f"{id}Log", settings=log_settings, name=f"/aws/eks/{name}/cluster")
        self.node.add_dependency(group)
        self.nodes = ClusterNodes(self, "Nodes", cluster=self, role=nodes, subnets=vpc.private_subnets, tags=tags)
        for role in administrators:
            admit(self, f"Admit-{role.replace('/', '-')}", self, role_arn(role), namespace=namespace)
