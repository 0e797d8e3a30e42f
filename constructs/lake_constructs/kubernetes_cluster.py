"""The Kubernetes cluster that runs Kafka Connect and the schema registry."""

from collections.abc import Sequence

from aws_cdk import RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_kms as kms
from aws_cdk.lambda_layer_kubectl_v36 import KubectlV36Layer
from constructs import Construct

from lake_constructs.log_group import LogSettings
from lake_constructs.service_log_group import ServiceLogGroup


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
        key: kms.IKey,
        log_settings: LogSettings,
        removal_policy: RemovalPolicy,
    ) -> None:
        public = eks.EndpointAccess.PUBLIC_AND_PRIVATE
        super().__init__(
            scope,
            id,
            cluster_name=name,
            version=eks.KubernetesVersion.of(version),
            vpc=vpc,
            vpc_subnets=[ec2.SubnetSelection(subnets=vpc.private_subnets)],
            default_capacity_type=eks.DefaultCapacityType.AUTOMODE,
            # From inside the VPC only, unless the operators' networks are given.
            endpoint_access=public.only_from(*api_access) if api_access else eks.EndpointAccess.PRIVATE,
            secrets_encryption_key=key,
            cluster_logging=list(eks.ClusterLoggingTypes),
            kubectl_provider_options=eks.KubectlProviderOptions(
                kubectl_layer=KubectlV36Layer(scope, f"{id}Kubectl"), private_subnets=vpc.private_subnets
            ),
            removal_policy=removal_policy,
        )
        group = ServiceLogGroup(scope, f"{id}Log", settings=log_settings, name=f"/aws/eks/{name}/cluster")
        self.node.add_dependency(group)
