"""MSK with provisioned brokers: KRaft, encrypted, logged; login by IAM, or by name and password beside it."""

from collections.abc import Mapping

from aws_cdk import aws_applicationautoscaling as scaling
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_msk as msk
from constructs import Construct

from lake_constructs.kafka import Kafka
from lake_constructs.kafka_users import KafkaUsers
from lake_constructs.log_group import EncryptedLogGroup, LogSettings

DISK_USED_PERCENT = 60  # a disk that is fuller grows


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
        max_volume_gb: int,
        server_properties: dict[str, str],
        key: kms.IKey,
        log_settings: LogSettings,
        users: Mapping[str, str] | None = None,
        users_key: kms.IKey | None = None,
    ) -> None:
        """users: the names of the secrets of those who log in by name and password; under users_key."""
        super().__init__(scope, id, vpc=vpc, log_settings=log_settings)
        lines = (f"{key}={value}" for key, value in sorted(server_properties.items()))
        # For all versions of Kafka: a list of versions could not be changed, and so the cluster could not be upgraded.
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
            # No anonymous logins.
            client_authentication={
                "sasl": {"iam": {"enabled": True}, "scram": {"enabled": bool(users)}},
                "unauthenticated": {"enabled": False},
            },
            encryption_info={
                "encryptionAtRest": {"dataVolumeKmsKeyId": key.key_arn},
                "encryptionInTransit": {"clientBroker": "TLS", "inCluster": True},
            },
            enhanced_monitoring="DEFAULT",  # free, and enough for all alarms
            logging_info={"brokerLogs": {"cloudWatchLogs": {"enabled": True, "logGroup": log_group.log_group_name}}},
        )
        if users and users_key:
            self.users = KafkaUsers(self, "Users", cluster=cluster.attr_arn, names=users, key=users_key)
        self.opened(cluster)
        grow_disks(self, cluster, max_volume_gb)


def grow_disks(scope: Construct, cluster: msk.CfnCluster, maximum_gb: int) -> None:
    """Enlarge the brokers' disks before they are full. MSK cannot shrink a disk."""
    target = scaling.CfnScalableTarget(
        scope,
        "Disks",
        service_namespace="kafka",
        scalable_dimension="kafka:broker-storage:VolumeSize",
        resource_id=cluster.attr_arn,
        min_capacity=1,  # the least that the service knows: disks do not shrink
        max_capacity=maximum_gb,
    )
    scaling.CfnScalingPolicy(
        scope,
        "DisksUsed",
        policy_name="disks",
        policy_type="TargetTrackingScaling",
        scaling_target_id=target.ref,
        target_tracking_scaling_policy_configuration={
            "predefinedMetricSpecification": {"predefinedMetricType": "KafkaBrokerStorageUtilization"},
            "targetValue": DISK_USED_PERCENT,
            "disableScaleIn": True,
        },
    )
