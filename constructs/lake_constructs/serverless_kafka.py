"""MSK Serverless: no brokers to size; IAM is the only login it knows."""

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_msk as msk
from constructs import Construct

from lake_constructs.kafka import Kafka
from lake_constructs.log_group import LogSettings


class ServerlessKafka(Kafka):
    """MSK Serverless always keeps three copies of each message, encrypted; retention is a setting of each topic."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        name: str,
        vpc: ec2.IVpc,
        subnets: ec2.SubnetSelection,
        log_settings: LogSettings,
    ) -> None:
        super().__init__(scope, id, vpc=vpc, log_settings=log_settings)
        group = self.security_group.security_group_id
        cluster = msk.CfnServerlessCluster(
            self,
            "Cluster",
            cluster_name=name,
            client_authentication={"sasl": {"iam": {"enabled": True}}},
            vpc_configs=[{"subnetIds": self.subnet_ids(vpc, subnets), "securityGroups": [group]}],
        )
        self.opened(cluster)
