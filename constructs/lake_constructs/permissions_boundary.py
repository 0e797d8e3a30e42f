"""A policy that no role of a stack may exceed."""

from aws_cdk import Aws, Stack
from aws_cdk import aws_iam as iam


def limit_roles(stack: Stack, policy: str) -> None:
    """Puts the boundary on each role of the stack, those of the CDK's own handlers too.

    policy: an ARN, or the name of a policy of this account, or its path and name.
    """
    arn = policy if policy.startswith("arn:") else f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:policy/{policy}"
    boundary = iam.ManagedPolicy.from_managed_policy_arn(stack, "PermissionsBoundary", arn)
    iam.PermissionsBoundary.of(stack).apply(boundary)
