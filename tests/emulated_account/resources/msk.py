"""Kafka as a service."""

from collections.abc import Mapping
from typing import Any

from tests.emulated_account.errors import Refused
from tests.emulated_account.resources.kind import Kind, Made, Properties

# https://github.com/aws/aws-cdk/issues/16765
ONE_AT_A_TIME = (
    "You can't update multiple attributes of the cluster in same request. Use a different request for each update."
)


class Configuration(Kind):
    type, service = "AWS::MSK::Configuration", "kafka"

    def create(self, properties: Properties) -> Made:
        wish = {**properties.rest(), "ServerProperties": properties["ServerProperties"].encode()}
        wish["KafkaVersions"] = wish.pop("KafkaVersionsList", [])
        return _configuration(self.call("create_configuration", wish))

    def update(self, made: Made, properties: Properties, before: Mapping[str, Any]) -> Made:
        properties.rest()
        text = properties["ServerProperties"].encode()
        return _configuration(self.call("update_configuration", Arn=made.id, ServerProperties=text))

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_configuration(Arn=made.id)


def _configuration(answer: Mapping[str, Any]) -> Made:
    return Made(answer["Arn"], {"Arn": answer["Arn"], "LatestRevision.Revision": answer["LatestRevision"]["Revision"]})


class Cluster(Kind):
    type, service = "AWS::MSK::Cluster", "kafka"

    def create(self, properties: Properties) -> Made:
        arn = self.call("create_cluster", properties.rest())["ClusterArn"]
        return Made(arn, {"Arn": arn})

    def update(self, made: Made, properties: Properties, before: Mapping[str, Any]) -> Made:
        """Configuration and version can be changed so far; MSK takes one change at a time."""
        names = properties.rest().keys() | before.keys()
        changed = {name for name in names if properties.get(name) != before.get(name)}
        if len(changed) > 1:
            raise Refused(ONE_AT_A_TIME)
        if changed == {"ConfigurationInfo"}:
            wish = {"ConfigurationInfo": properties["ConfigurationInfo"]}
            self._call("update_cluster_configuration", made.id, wish)
        elif changed == {"KafkaVersion"}:
            self._call("update_cluster_kafka_version", made.id, {"TargetKafkaVersion": properties["KafkaVersion"]})
        else:
            return super().update(made, properties, before)
        return made

    def _call(self, method: str, arn: str, wish: Mapping[str, Any]) -> None:
        version = self.client.describe_cluster(ClusterArn=arn)["ClusterInfo"]["CurrentVersion"]
        self.call(method, wish, ClusterArn=arn, CurrentVersion=version)

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_cluster(ClusterArn=made.id)


class ServerlessCluster(Kind):
    type, service = "AWS::MSK::ServerlessCluster", "kafka"

    def create(self, properties: Properties) -> Made:
        wish = properties.rest()
        shared: dict[str, Any] = {name: wish.pop(name) for name in ("ClusterName", "Tags") if name in wish}
        groups = [_groups(one) for one in wish["VpcConfigs"]]
        arn = self.call("create_cluster_v2", shared, Serverless={**wish, "VpcConfigs": groups})["ClusterArn"]
        return Made(arn, {"Arn": arn})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_cluster(ClusterArn=made.id)


class BatchScramSecret(Kind):
    """The users of a cluster."""

    type, service = "AWS::MSK::BatchScramSecret", "kafka"

    def create(self, properties: Properties) -> Made:
        self.call("batch_associate_scram_secret", properties.rest())
        return Made(properties["ClusterArn"])

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        arns = properties["SecretArnList"]
        self.client.batch_disassociate_scram_secret(ClusterArn=made.id, SecretArnList=arns)


def _groups(place: Mapping[str, Any]) -> dict[str, Any]:
    """The API says security group ids where CloudFormation says security groups."""
    return {"SubnetIds": place["SubnetIds"], "SecurityGroupIds": place.get("SecurityGroups", [])}
