"""A CloudWatch log group: encrypted, with an expiry."""

from dataclasses import dataclass

from aws_cdk import RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct


@dataclass(frozen=True)
class LogSettings:
    """The key of all log groups of a lake, and their retention in days, which must be a value that CloudWatch knows."""

    key: kms.IKey
    days: int


class EncryptedLogGroup(logs.LogGroup):
    """Logs are not needed after their retention, so the group is always deleted with the stack."""

    def __init__(self, scope: Construct, id: str, *, settings: LogSettings, name: str | None = None) -> None:
        super().__init__(
            scope, id, log_group_name=name, encryption_key=settings.key, removal_policy=RemovalPolicy.DESTROY
        )
        # The CDK accepts only its names for days; CloudFormation takes the number.
        self.node.default_child.retention_in_days = settings.days  # type: ignore[union-attr]
