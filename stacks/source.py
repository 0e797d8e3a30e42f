"""The source database, and the users with which the lake reads it."""

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct
from lake_constructs.database_users import DatabaseUsers
from lake_constructs.encryption_key import EncryptionKey
from lake_constructs.postgres_source import PORT, PostgresSource
from lake_constructs.serverless_spark import hand_to_jobs
from lake_constructs.service_login import ServiceLogin

from lake.aws.rendering import has_hashes
from lake.aws.source import ExistingDatabase, roles
from lake.config import versions
from stacks.network import NetworkStack
from stacks.part import Blueprint, Part
from stacks.storage import StorageStack


class SourceStack(Part):
    """host, port, group and secrets are the same for a new database and for an existing one."""

    def __init__(self, scope: Construct, blueprint: Blueprint, *, storage: StorageStack, network: NetworkStack) -> None:
        super().__init__(scope, blueprint)
        removal = blueprint.removal
        self.secrets_key = EncryptionKey(self, "SecretsKey", purpose="secrets", removal_policy=removal)
        users = DatabaseUsers(self, "Users", names=roles.USERS, key=self.secrets_key, removal_policy=removal)
        self.users = users.by_name
        self.hashes = self._hashes() if has_hashes(blueprint.databases) else None
        self.instance: PostgresSource | None = None
        if self.settings.source.existing:
            self._adopt(self.settings.source.existing)
        else:
            self._create(storage, network)
        if self.settings.processing.serverless:
            readable = [self.users[roles.VERIFY], *([self.admin] if not self.settings.source.existing else [])]
            readable += [self.hashes] if self.hashes else []
            hand_to_jobs(readable, self.secrets_key)

    def _hashes(self) -> ServiceLogin:
        """The key of the hashes of columns: with another one, old and new rows have other hashes."""
        return ServiceLogin(self, "Hashes", user="hashes", key=self.secrets_key, removal_policy=self.blueprint.removal)

    def _create(self, storage: StorageStack, network: NetworkStack) -> None:
        source, removal = self.settings.source, self.blueprint.removal
        key = EncryptionKey(self, "DatabaseKey", purpose="database", removal_policy=removal)
        self.instance = PostgresSource(
            self,
            "Database",
            name=self.blueprint.name,
            version=versions.POSTGRESQL,
            instance_type=source.instance,
            vpc=network.source_vpc,
            vpc_subnets=network.source_subnets,
            admin=roles.ADMIN,
            storage_gb=source.storage_gb,
            max_slot_wal_gb=source.max_slot_wal_gb,
            multi_az=source.multi_az,
            backup_days=source.backup_days,
            key=key,
            secrets_key=self.secrets_key,
            log_settings=storage.log_settings,
            removal_policy=removal,
        )
        assert self.instance.secret  # from_generated_secret creates one
        self.admin: secretsmanager.ISecret = self.instance.secret
        self.admin_key: kms.IKey | None = self.secrets_key
        self.group: ec2.ISecurityGroup = self.instance.group
        self.host, self.port = self.instance.db_instance_endpoint_address, PORT

    def _adopt(self, existing: ExistingDatabase) -> None:
        self.admin = secretsmanager.Secret.from_secret_name_v2(self, "Admin", existing.admin_secret)
        self.admin_key = None
        if existing.admin_key:
            arn = self.format_arn(service="kms", resource="key", resource_name=existing.admin_key)
            self.admin_key = kms.Key.from_key_arn(self, "AdminKey", arn)
        self.group = ec2.SecurityGroup.from_security_group_id(self, "Group", existing.security_group)
        self.host, self.port = existing.host, existing.port
