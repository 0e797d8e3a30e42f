"""One KMS key for one purpose."""

from collections.abc import Sequence

from aws_cdk import Aws, Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

USE = ["kms:Decrypt", "kms:GenerateDataKey"]


class EncryptionKey(kms.Key):
    """Rotated yearly; usable by the account's own roles and by the named AWS services."""

    def __init__(
        self, scope: Construct, id: str, *, purpose: str, removal_policy: RemovalPolicy, services: Sequence[str] = ()
    ) -> None:
        super().__init__(
            scope,
            id,
            description=f"Lake: {purpose}",
            enable_key_rotation=True,
            removal_policy=removal_policy,
            pending_window=Duration.days(7),
        )
        for service in services:
            self.allow(service, USE, {"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}})

    def allow(self, service: str, actions: list[str], conditions: dict[str, dict[str, str]]) -> None:
        """Lets an AWS service use the key; in the policy of a key, "*" is this key."""
        user = iam.ServicePrincipal(service)
        self.add_to_resource_policy(
            iam.PolicyStatement(principals=[user], actions=actions, resources=["*"], conditions=conditions)
        )


class LogsKey(EncryptionKey):
    """The key of all log groups: CloudWatch Logs may use it for groups of this account and region only."""

    def __init__(self, scope: Construct, id: str, *, removal_policy: RemovalPolicy) -> None:
        super().__init__(scope, id, purpose="logs", removal_policy=removal_policy)
        groups = f"arn:{Aws.PARTITION}:logs:{Aws.REGION}:{Aws.ACCOUNT_ID}:log-group:*"
        within = {"ArnLike": {"kms:EncryptionContext:aws:logs:arn": groups}}
        self.allow(f"logs.{Aws.REGION}.amazonaws.com", [*USE, "kms:Encrypt", "kms:DescribeKey"], within)


def use_key(key: kms.IKey) -> iam.PolicyStatement:
    """The rights to read and write data under the key."""
    return iam.PolicyStatement(actions=USE, resources=[key.key_arn])
