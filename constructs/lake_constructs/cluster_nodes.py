"""The nodes of EKS Auto Mode: their class and their pool, and the switch of the network policies."""

from collections.abc import Mapping
from typing import Any

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

NAME = "lake"
# Until this exists, the API server takes network policies and no node enforces them (EKS user guide, auto-net-pol).
ENFORCE = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "amazon-vpc-cni", "namespace": "kube-system"},
    "data": {"enable-network-policy-controller": "true"},
}
# As those of EKS's own pool, general-purpose.
REQUIREMENTS = {
    "karpenter.sh/capacity-type": ("In", ["on-demand"]),
    "eks.amazonaws.com/instance-category": ("In", ["c", "m", "r"]),
    "eks.amazonaws.com/instance-generation": ("Gt", ["4"]),
    "kubernetes.io/arch": ("In", ["amd64"]),
    "kubernetes.io/os": ("In", ["linux"]),
}


class NodeRole(iam.Role):
    """The rights of a node: to join the cluster, and to pull images. Pods have roles of their own."""

    def __init__(self, scope: Construct, id: str) -> None:
        names = ("AmazonEKSWorkerNodeMinimalPolicy", "AmazonEC2ContainerRegistryPullOnly")
        policies = [iam.ManagedPolicy.from_aws_managed_policy_name(name) for name in names]
        super().__init__(scope, id, assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"), managed_policies=policies)


class ClusterNodes(Construct):
    """EKS's own class of nodes knows no tags and takes no changes, so the pods run on nodes of this class."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: eks.Cluster,
        role: iam.IRole,
        subnets: list[ec2.ISubnet],
        tags: Mapping[str, str],
    ) -> None:
        super().__init__(scope, id)
        enforced = self._manifest("NetworkPolicies", cluster, ENFORCE)
        nodes = self._manifest("Class", cluster, node_class(cluster, role, subnets, tags))
        self._manifest("Pool", cluster, POOL).node.add_dependency(enforced, nodes)

    def _manifest(self, id: str, cluster: eks.Cluster, manifest: Mapping[str, Any]) -> eks.KubernetesManifest:
        # Applied rather than created: EKS, or an earlier deployment, may have made the object.
        return eks.KubernetesManifest(self, id, cluster=cluster, manifest=[dict(manifest)], overwrite=True)


def node_class(
    cluster: eks.Cluster, role: iam.IRole, subnets: list[ec2.ISubnet], tags: Mapping[str, str]
) -> dict[str, Any]:
    group = cluster.cluster_security_group_id
    spec = {
        "role": role.role_name,
        "subnetSelectorTerms": [{"id": subnet.subnet_id} for subnet in subnets],
        "securityGroupSelectorTerms": [{"id": group}],
        "networkPolicy": "DefaultAllow",
        "tags": dict(tags),
    }
    return {"apiVersion": "eks.amazonaws.com/v1", "kind": "NodeClass", "metadata": {"name": NAME}, "spec": spec}


POOL = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": NAME},
    "spec": {
        "template": {
            "spec": {
                "nodeClassRef": {"group": "eks.amazonaws.com", "kind": "NodeClass", "name": NAME},
                "requirements": [
                    {"key": key, "operator": operator, "values": values}
                    for key, (operator, values) in REQUIREMENTS.items()
                ],
                "expireAfter": "336h",
                "terminationGracePeriod": "24h",
            }
        },
        "disruption": {
            "budgets": [{"nodes": "10%"}],
            "consolidationPolicy": "WhenEmptyOrUnderutilized",
            "consolidateAfter": "30s",
        },
    },
}


def tag_what_is_made(cluster: str) -> list[iam.PolicyStatement]:
    """Make nodes, volumes, interfaces and load balancers with tags of ours, for the cluster of this name alone.

    AWS's policies of Auto Mode allow EKS's own tags only (EKS user guide, auto-cluster-iam-role, "Custom tags").
    """
    ours = {"aws:RequestTag/eks:eks-cluster-name": cluster}
    nodes = {"aws:RequestTag/eks:kubernetes-node-class-name": "*", "aws:RequestTag/eks:kubernetes-node-pool-name": "*"}
    interfaces = {"aws:RequestTag/eks:kubernetes-cni-node-name": "*"}
    balancers = [f"elasticloadbalancing:Create{part}" for part in ("LoadBalancer", "TargetGroup", "Listener", "Rule")]
    return [
        _made(["ec2:CreateFleet", "ec2:RunInstances", "ec2:CreateLaunchTemplate"], ours, nodes),
        _made(["ec2:CreateVolume", "ec2:CreateSnapshot"], ours, {}),
        _made(["ec2:CreateNetworkInterface"], ours, interfaces),
        _made([*balancers, "ec2:CreateSecurityGroup"], ours, {}),
    ]


def _made(actions: list[str], equal: dict[str, str], like: dict[str, str]) -> iam.PolicyStatement:
    conditions = {"StringEquals": equal, **({"StringLike": like} if like else {})}
    return iam.PolicyStatement(actions=actions, resources=["*"], conditions=conditions)
