"""MSK with brokers of its own: KRaft, IAM only, encrypted, logged."""

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_msk as msk
from constructs import Construct

from lake_constructs.kafka import Kafka
from lake_constructs.log_group import EncryptedLogGroup, LogSettings


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
        configuration = self._configuration(name, version, server_properties)
        log_group = EncryptedLogGroup(self, "Logs", settings=log_settings)
        cluster = msk.CfnCluster(
            self,
            "Cluster",
            cluster_name=name,
            kafka_version=version,
            number_of_broker_nodes=brokers,
            broker_node_group_info=self._nodes(vpc, subnets, broker, volume_gb),
            configuration_info=msk.CfnCluster.ConfigurationInfoProperty(
                arn=configuration.attr_arn, revision=configuration.attr_latest_revision_revision
            ),
            client_authentication=iam_only(),
            encryption_info=encrypted(key),
            enhanced_monitoring="PER_TOPIC_PER_BROKER",
            logging_info=logged(log_group.log_group_name),
        )
        self.opened(cluster.attr_arn)

    def _configuration(self, name: str, version: str, server_properties: dict[str, str]) -> msk.CfnConfiguration:
        lines = (f"{key}={value}" for key, value in sorted(server_properties.items()))
        return msk.CfnConfiguration(
            self,
            "Configuration",
            name=name,
            kafka_versions_list=[version],
            server_properties="\n".join(lines),
        )

    def _nodes(
        self, vpc: ec2.IVpc, subnets: ec2.SubnetSelection, broker: str, volume_gb: int
    ) -> msk.CfnCluster.BrokerNodeGroupInfoProperty:
        volume = msk.CfnCluster.EBSStorageInfoProperty(volume_size=volume_gb)
        return msk.CfnCluster.BrokerNodeGroupInfoProperty(
            instance_type=broker,
            client_subnets=vpc.select_subnets(subnet_type=subnets.subnet_type, subnets=subnets.subnets).subnet_ids,
            security_groups=[self.security_group.security_group_id],
            storage_info=msk.CfnCluster.StorageInfoProperty(ebs_storage_info=volume),
        )


def iam_only() -> msk.CfnCluster.ClientAuthenticationProperty:
    """IAM logins only: no anonymous and no password logins."""
    return msk.CfnCluster.ClientAuthenticationProperty(
        sasl=msk.CfnCluster.SaslProperty(
            iam=msk.CfnCluster.IamProperty(enabled=True), scram=msk.CfnCluster.ScramProperty(enabled=False)
        ),
        unauthenticated=msk.CfnCluster.UnauthenticatedProperty(enabled=False),
    )


def encrypted(key: kms.IKey) -> msk.CfnCluster.EncryptionInfoProperty:
    """Encryption on the volumes, to the clients and between the brokers."""
    return msk.CfnCluster.EncryptionInfoProperty(
        encryption_at_rest=msk.CfnCluster.EncryptionAtRestProperty(data_volume_kms_key_id=key.key_arn),
        encryption_in_transit=msk.CfnCluster.EncryptionInTransitProperty(client_broker="TLS", in_cluster=True),
    )


def logged(group: str) -> msk.CfnCluster.LoggingInfoProperty:
    to_group = msk.CfnCluster.CloudWatchLogsProperty(enabled=True, log_group=group)
    return msk.CfnCluster.LoggingInfoProperty(broker_logs=msk.CfnCluster.BrokerLogsProperty(cloud_watch_logs=to_group))
