"""A log group whose name a service of AWS dictates."""

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from aws_cdk import custom_resources as custom
from constructs import Construct

from lake_constructs.log_group import EncryptedLogGroup, LogSettings


class ServiceLogGroup(EncryptedLogGroup):
    """Created before the service, which would make it unencrypted and without expiry.

    EKS, RDS and agents deliver the last lines after their own deletion, and make the group again that was deleted with
    its stack. The next deployment would fail ("already exists"), so such a leftover is deleted first.
    """

    def __init__(self, scope: Construct, id: str, *, name: str, settings: LogSettings) -> None:
        super().__init__(scope, id, settings=settings, name=name)
        # ":*" is a part of the ARN of a log group in a policy.
        arn = f"arn:{Aws.PARTITION}:logs:{Aws.REGION}:{Aws.ACCOUNT_ID}:log-group:{name}:*"
        statement = iam.PolicyStatement(actions=["logs:DeleteLogGroup"], resources=[arn])
        leftover = custom.AwsCustomResource(
            self,
            "Leftover",
            on_create=custom.AwsSdkCall(
                service="CloudWatchLogs",
                action="deleteLogGroup",
                parameters={"logGroupName": name},
                physical_resource_id=custom.PhysicalResourceId.of(name),
                ignore_error_codes_matching="ResourceNotFoundException",
            ),
            policy=custom.AwsCustomResourcePolicy.from_statements([statement]),
            install_latest_aws_sdk=False,
        )
        self.node.default_child.node.add_dependency(leftover)  # type: ignore[union-attr]
