"""A CloudWatch log group: encrypted, and forgotten in time."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

RETENTION = {
    1: logs.RetentionDays.ONE_DAY,
    3: logs.RetentionDays.THREE_DAYS,
    5: logs.RetentionDays.FIVE_DAYS,
    7: logs.RetentionDays.ONE_WEEK,
    14: logs.RetentionDays.TWO_WEEKS,
    30: logs.RetentionDays.ONE_MONTH,
    60: logs.RetentionDays.TWO_MONTHS,
    90: logs.RetentionDays.THREE_MONTHS,
    120: logs.RetentionDays.FOUR_MONTHS,
    150: logs.RetentionDays.FIVE_MONTHS,
    180: logs.RetentionDays.SIX_MONTHS,
    365: logs.RetentionDays.ONE_YEAR,
    400: logs.RetentionDays.THIRTEEN_MONTHS,
    545: logs.RetentionDays.EIGHTEEN_MONTHS,
    731: logs.RetentionDays.TWO_YEARS,
}


class EncryptedLogGroup(logs.LogGroup):
    """Logs are never worth keeping beyond their days, so they always go with the stack."""

    def __init__(self, scope: Construct, id: str, *, key: kms.IKey, days: int, name: str | None = None) -> None:
        super().__init__(
            scope,
            id,
            log_group_name=name,
            encryption_key=key,
            retention=RETENTION[days],
            removal_policy=RemovalPolicy.DESTROY,
        )
