"""The Kafka cluster on MSK."""

from typing import Any

from aws_cdk import RemovalPolicy
from constructs import Construct
from lake_constructs.encryption_key import EncryptionKey
from lake_constructs.existing_kafka import ExistingKafka
from lake_constructs.kafka import Kafka
from lake_constructs.provisioned_kafka import ProvisionedKafka
from lake_constructs.serverless_kafka import ServerlessKafka

from lake.aws.rendering import broker_settings
from lake.aws.streaming import secret_name
from lake.config import versions
from stacks.network import NetworkStack
from stacks.part import Blueprint, Part
from stacks.storage import StorageStack


class StreamingStack(Part):
    """One cluster: provisioned, serverless, or one that exists."""

    def __init__(self, scope: Construct, blueprint: Blueprint, *, storage: StorageStack, network: NetworkStack) -> None:
        super().__init__(scope, blueprint)
        place: dict[str, Any] = {"vpc": network.vpc, "log_settings": storage.log_settings}
        if found := self.settings.streaming.existing:
            self.kafka: Kafka = ExistingKafka(
                self, "Kafka", arn=found.arn, security_group=found.security_group, **place
            )
            return
        place |= {"name": blueprint.name, "subnets": network.data_subnets}
        if self.settings.streaming.kind == "serverless":
            self.kafka = ServerlessKafka(self, "Kafka", **place)
            return
        self.kafka = ProvisionedKafka(
            self,
            "Kafka",
            version=versions.MSK,
            broker=self.settings.streaming.broker,
            brokers=self.settings.brokers,
            volume_gb=self.settings.streaming.volume_gb,
            max_volume_gb=self.settings.streaming.disk_limit_gb,
            server_properties=broker_settings(self.settings),
            key=EncryptionKey(self, "Key", purpose="streaming", removal_policy=blueprint.removal),
            **self._users(),
            **place,
        )

    def _users(self) -> dict[str, Any]:
        """Those who log in by name and password, if the environment wants that."""
        users = self.settings.streaming.users
        if not users:
            return {}
        key = EncryptionKey(self, "UsersKey", purpose="Kafka users", removal_policy=RemovalPolicy.DESTROY)
        return {"users": {user: secret_name(self.settings.name, user) for user in users}, "users_key": key}
