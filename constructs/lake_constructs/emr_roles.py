"""The two roles of an EMR cluster: the service's own, and that of the nodes."""

from collections.abc import Sequence

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from lake_constructs.encryption_key import USE
from lake_constructs.statement_pieces import in_pieces

# AWS's policy for the service lets it touch only what carries this tag.
TAG = ("for-use-with-amazon-emr-managed-policies", "true")
SERVICE_POLICY = "service-role/AmazonEMRServicePolicy_v2"


class NodeRole(iam.Role):
    """The rights of the jobs; the nodes have no other rights."""

    def __init__(self, scope: Construct, id: str, *, statements: Sequence[iam.PolicyStatement]) -> None:
        super().__init__(scope, id, assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
        for statement in statements:
            for piece in in_pieces(statement):
                self.add_to_policy(piece)
        self.profile = iam.CfnInstanceProfile(self, "Profile", roles=[self.role_name])


class ServiceRole(iam.Role):
    """The rights that EMR needs to start nodes with encrypted disks in tagged subnets."""

    def __init__(self, scope: Construct, id: str, *, nodes: iam.IRole, disks_key: kms.IKey) -> None:
        clusters = f"arn:{Aws.PARTITION}:elasticmapreduce:{Aws.REGION}:{Aws.ACCOUNT_ID}:*"
        limits = {"ArnLike": {"aws:SourceArn": clusters}}
        service = iam.ServicePrincipal("elasticmapreduce.amazonaws.com", conditions=limits)
        policy = iam.ManagedPolicy.from_aws_managed_policy_name(SERVICE_POLICY)
        super().__init__(scope, id, assumed_by=service, managed_policies=[policy])
        passed = {"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}}
        granted = {"Bool": {"kms:GrantIsForAWSResource": "true"}}
        for statement in (
            iam.PolicyStatement(actions=["iam:PassRole"], resources=[nodes.role_arn], conditions=passed),
            use_disks_key(disks_key),
            iam.PolicyStatement(actions=["kms:CreateGrant"], resources=[disks_key.key_arn], conditions=granted),
        ):
            self.add_to_policy(statement)


def use_disks_key(key: kms.IKey) -> iam.PolicyStatement:
    """Encrypt and decrypt the nodes' disks."""
    actions = [*USE, "kms:Encrypt", "kms:DescribeKey", "kms:GenerateDataKeyWithoutPlaintext"]
    return iam.PolicyStatement(actions=actions, resources=[key.key_arn])
