"""A cluster of others on MSK. Only a rule of its security group is added, and topics."""

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from lake_constructs.kafka import Kafka
from lake_constructs.log_group import LogSettings


class ExistingKafka(Kafka):
    """arn: of the cluster. security_group: the id of its brokers' group."""

    def __init__(
        self, scope: Construct, id: str, *, arn: str, security_group: str, vpc: ec2.IVpc, log_settings: LogSettings
    ) -> None:
        super().__init__(scope, id, vpc=vpc, log_settings=log_settings, security_group=security_group)
        self.found(arn)
