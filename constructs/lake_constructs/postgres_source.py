"""The source database: PostgreSQL on RDS with logical replication."""

from typing import Any

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_rds as rds
from constructs import Construct

from lake_constructs.database_users import AWKWARD
from lake_constructs.log_group import LogSettings
from lake_constructs.service_log_group import ServiceLogGroup

PORT = 5432
PARAMETERS = {
    "rds.logical_replication": "1",
    "rds.force_ssl": "1",
    "max_replication_slots": "16",
    "max_wal_senders": "16",
    "wal_sender_timeout": "60000",  # ms; then the slot of a connector that disconnected is released
}
ALWAYS: dict[str, Any] = {
    "storage_type": rds.StorageType.GP3,
    "storage_encrypted": True,
    "publicly_accessible": False,
    "auto_minor_version_upgrade": True,
    "cloudwatch_logs_exports": ["postgresql"],
    "enable_performance_insights": True,
    "monitoring_interval": Duration.minutes(1),
    "iam_authentication": True,
    "copy_tags_to_snapshot": True,
}


class PostgresSource(rds.DatabaseInstance):
    """One instance, reachable by TLS from the allowed security groups only; properties are DatabaseInstance's own.

    It names no database, because that name could never be changed: databases are created in it, later.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        name: str,
        version: str,
        instance_type: str,
        vpc: ec2.IVpc,
        admin: str,
        storage_gb: int,
        max_slot_wal_gb: int,
        backup_days: int,
        key: kms.IKey,
        secrets_key: kms.IKey,
        log_settings: LogSettings,
        removal_policy: RemovalPolicy,
        **properties: Any,
    ) -> None:
        keep = removal_policy is RemovalPolicy.RETAIN
        minor = rds.PostgresEngineVersion.of(version, version.partition(".")[0])
        engine = rds.DatabaseInstanceEngine.postgres(version=minor)
        parameters = rds.ParameterGroup(
            scope,
            f"{id}Parameters",
            engine=engine,
            description="Logical replication for the lake",
            # In MB: PostgreSQL invalidates a slot that nobody reads before it fills the disk.
            parameters={**PARAMETERS, "max_slot_wal_keep_size": str(max_slot_wal_gb * 1024)},
        )
        login = rds.Credentials.from_generated_secret(admin, encryption_key=secrets_key, exclude_characters=AWKWARD)
        self.group = ec2.SecurityGroup(scope, f"{id}Group", vpc=vpc, allow_all_outbound=False)
        super().__init__(
            scope,
            id,
            instance_identifier=name,
            engine=engine,
            instance_type=ec2.InstanceType(instance_type.removeprefix("db.")),
            vpc=vpc,
            security_groups=[self.group],
            parameter_group=parameters,
            credentials=login,
            port=PORT,
            allocated_storage=storage_gb,
            max_allocated_storage=storage_gb * 2,
            storage_encryption_key=key,
            backup_retention=Duration.days(backup_days),
            delete_automated_backups=not keep,
            deletion_protection=keep,
            performance_insight_encryption_key=key,
            removal_policy=RemovalPolicy.SNAPSHOT if keep else removal_policy,
            **ALWAYS,
            **properties,
        )
        group = f"/aws/rds/instance/{name}/postgresql"
        self.node.add_dependency(ServiceLogGroup(scope, f"{id}Log", settings=log_settings, name=group))
