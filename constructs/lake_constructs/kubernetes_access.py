"""Who may use the API of a Kubernetes cluster: access entries of EKS."""

from aws_cdk import Aws
from aws_cdk import aws_eks as eks_resources
from aws_cdk import aws_eks_v2 as eks
from constructs import Construct

NAMESPACE_ADMIN = "AmazonEKSAdminPolicy"


def role_arn(role: str) -> str:
    """Of a role of this account, by its name or its path and name."""
    return f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:role/{role}"


def admit(
    scope: Construct, id: str, cluster: eks.ICluster, arn: str, policy: str = NAMESPACE_ADMIN, namespace: str = ""
) -> eks_resources.CfnAccessEntry:
    """Give a role the rights of a policy of EKS: in one namespace, or in the whole cluster."""
    reach = {"type": "namespace", "namespaces": [namespace]} if namespace else {"type": "cluster"}
    policy_arn = f"arn:{Aws.PARTITION}:eks::aws:cluster-access-policy/{policy}"
    return eks_resources.CfnAccessEntry(
        scope,
        id,
        cluster_name=cluster.cluster_name,
        principal_arn=arn,
        access_policies=[{"policyArn": policy_arn, "accessScope": reach}],
    )
