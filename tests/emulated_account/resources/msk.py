"""Kafka as a service."""

from collections.abc import Mapping
from typing import Any

from tests.emulated_account.resources.kind import Kind, Made, Properties


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
        """Only the configuration can be changed so far."""
        if {**properties, "ConfigurationInfo": None} != {**before, "ConfigurationInfo": None}:
            return super().update(made, properties, before)
        properties.rest()
        version = self.client.describe_cluster(ClusterArn=made.id)["ClusterInfo"]["CurrentVersion"]
        wish = {"ConfigurationInfo": properties["ConfigurationInfo"]}
        self.call("update_cluster_configuration", wish, ClusterArn=made.id, CurrentVersion=version)
        return made

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


def _groups(place: Mapping[str, Any]) -> dict[str, Any]:
    """The API says security group ids where CloudFormation says security groups."""
    return {"SubnetIds": place["SubnetIds"], "SecurityGroupIds": place.get("SecurityGroups", [])}
