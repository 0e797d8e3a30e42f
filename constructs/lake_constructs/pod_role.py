"""The role of one workload on Kubernetes."""

from collections.abc import Sequence

from aws_cdk import aws_eks as eks_resources
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from lake_constructs.statement_pieces import in_pieces


class PodRole(iam.Role):
    """Assumed through Pod Identity by one service account of one namespace of one cluster, and by nobody else."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: eks.ICluster,
        namespace: str,
        service_account: str,
        statements: Sequence[iam.PolicyStatement],
    ) -> None:
        # Without the tags, any association of the account could give this role to its pods.
        tags = {
            "aws:RequestTag/eks-cluster-arn": cluster.cluster_arn,
            "aws:RequestTag/kubernetes-namespace": namespace,
            "aws:RequestTag/kubernetes-service-account": service_account,
        }
        pods = iam.ServicePrincipal("pods.eks.amazonaws.com", conditions={"StringEquals": tags})
        super().__init__(scope, id, assumed_by=pods.with_session_tags())
        for statement in statements:
            for piece in in_pieces(statement):
                self.add_to_policy(piece)
        self.association = eks_resources.CfnPodIdentityAssociation(
            self,
            "Association",
            cluster_name=cluster.cluster_name,
            namespace=namespace,
            service_account=service_account,
            role_arn=self.role_arn,
        )
