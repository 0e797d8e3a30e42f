"""Kafka."""

from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_kms as kms
from constructs import Construct
from lake_constructs.encryption_key import EncryptionKey
from lake_constructs.kafka import Kafka
from lake_constructs.provisioned_kafka import ProvisionedKafka
from lake_constructs.serverless_kafka import ServerlessKafka

from lake.aws.environment import AwsEnvironment
from lake.aws.rendering import broker_settings
from lake.config import versions
from stacks.network import NetworkStack


class StreamingStack(Stack):
    """One cluster, provisioned or serverless."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        environment: AwsEnvironment,
        network: NetworkStack,
        logs_key: kms.IKey,
        removal: RemovalPolicy,
    ) -> None:
        super().__init__(scope, id, env={"region": environment.region})
        self.name = f"lake-{environment.name}"
        serverless = environment.streaming.kind == "serverless"
        make = self._serverless if serverless else self._provisioned
        self.kafka: Kafka = make(environment, network, logs_key, removal)

    def _serverless(
        self, environment: AwsEnvironment, network: NetworkStack, logs_key: kms.IKey, _: RemovalPolicy
    ) -> Kafka:
        return ServerlessKafka(
            self,
            "Kafka",
            name=self.name,
            vpc=network.vpc,
            subnets=network.data_subnets,
            logs_key=logs_key,
            log_days=environment.operations.log_days,
        )

    def _provisioned(
        self, environment: AwsEnvironment, network: NetworkStack, logs_key: kms.IKey, removal: RemovalPolicy
    ) -> Kafka:
        return ProvisionedKafka(
            self,
            "Kafka",
            name=self.name,
            version=versions.MSK,
            vpc=network.vpc,
            subnets=network.data_subnets,
            broker=environment.streaming.broker,
            brokers=environment.brokers,
            volume_gb=environment.streaming.volume_gb,
            server_properties=broker_settings(environment),
            key=EncryptionKey(self, "Key", purpose="streaming", removal_policy=removal),
            logs_key=logs_key,
            log_days=environment.operations.log_days,
        )
