"""A Kubernetes cluster of others, in which the charts are installed. Nothing else of it is changed."""

from collections.abc import Sequence

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk.lambda_layer_kubectl_v36 import KubectlV36Layer
from constructs import Construct

from lake_constructs.kubernetes_access import admit, role_arn

CLUSTER_ADMIN = "AmazonEKSClusterAdminPolicy"


class ExistingKubernetes(Construct):
    """cluster: as the charts need it. ready: what must exist before the first of them."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        name: str,
        security_group: str,
        vpc: ec2.IVpc,
        administrators: Sequence[str],
        namespace: str,
    ) -> None:
        super().__init__(scope, id)
        place = {"cluster_name": name, "vpc": vpc, "cluster_security_group_id": security_group}
        provider = eks.KubectlProvider(
            self,
            "KubectlProvider",
            cluster=eks.Cluster.from_cluster_attributes(self, "Found", **place),
            kubectl_layer=KubectlV36Layer(self, "Kubectl"),
            private_subnets=vpc.private_subnets,
        )
        self.cluster = eks.Cluster.from_cluster_attributes(self, "Cluster", kubectl_provider=provider, **place)
        assert provider.role
        # helm makes the namespace, so its function needs more than one.
        self.ready = admit(self, "Helm", self.cluster, provider.role.role_arn, CLUSTER_ADMIN)
        for role in administrators:
            admit(self, f"Admit-{role.replace('/', '-')}", self.cluster, role_arn(role), namespace=namespace)
