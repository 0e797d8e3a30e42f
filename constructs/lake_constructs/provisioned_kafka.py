"""MSK with brokers of its own: KRaft, IAM only, encrypted, logged."""

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_msk as msk
from constructs import Construct

from lake_constructs.kafka import Kafka
from lake_constructs.log_group import EncryptedLogGroup, LogSettings

# No anonymous and no password logins.
IAM_ONLY = {"sasl": {"iam": {"enabled": True}, "scram": {"enabled": False}}, "unauthenticated": {"enabled": False}}


class ProvisionedKafka(Kafka):
    """Three copies of each message; a write succeeds once two brokers have it."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        name: str,
        version: str,
        vpc: ec2.IVpc,
        subnets: ec2.SubnetSelection,
        broker: str,
        brokers: int,
        volume_gb: int,
        server_properties: dict[str, str],
        key: kms.IKey,
        log_settings: LogSettings,
    ) -> None:
        super().__init__(scope, id, vpc=vpc, log_settings=log_settings)
        lines = (f"{key}={value}" for key, value in sorted(server_properties.items()))
        # For all versions of Kafka: a list of them cannot be changed, and so no version of the cluster.
        configuration = msk.CfnConfiguration(self, "Configuration", name=name, server_properties="\n".join(lines))
        log_group = EncryptedLogGroup(self, "Logs", settings=log_settings)
        cluster = msk.CfnCluster(
            self,
            "Cluster",
            cluster_name=name,
            kafka_version=version,
            number_of_broker_nodes=brokers,
            broker_node_group_info={
                "instanceType": broker,
                "clientSubnets": self.subnet_ids(vpc, subnets),
                "securityGroups": [self.security_group.security_group_id],
                "storageInfo": {"ebsStorageInfo": {"volumeSize": volume_gb}},
            },
            configuration_info={"arn": configuration.attr_arn, "revision": configuration.attr_latest_revision_revision},
            client_authentication=IAM_ONLY,
            encryption_info={
                "encryptionAtRest": {"dataVolumeKmsKeyId": key.key_arn},
                "encryptionInTransit": {"clientBroker": "TLS", "inCluster": True},
            },
            enhanced_monitoring="PER_TOPIC_PER_BROKER",
            logging_info={"brokerLogs": {"cloudWatchLogs": {"enabled": True, "logGroup": log_group.log_group_name}}},
        )
        self.opened(cluster)
