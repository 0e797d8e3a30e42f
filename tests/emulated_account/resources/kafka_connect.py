"""MSK Connect. Of a connector settings and size can be changed; all else is create-only."""

from collections.abc import Mapping
from typing import Any

from tests.emulated_account.resources.kind import Kind, Made, Properties

CHANGEABLE = {"Capacity", "ConnectorConfiguration"}


class CustomPlugin(Kind):
    type, service = "AWS::KafkaConnect::CustomPlugin", "kafkaconnect"

    def create(self, properties: Properties) -> Made:
        answer = self.call("create_custom_plugin", properties.rest())
        return Made(
            answer["customPluginArn"], {"CustomPluginArn": answer["customPluginArn"], "Revision": answer["revision"]}
        )

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_custom_plugin(customPluginArn=made.id)


class WorkerConfiguration(Kind):
    type, service = "AWS::KafkaConnect::WorkerConfiguration", "kafkaconnect"

    def create(self, properties: Properties) -> Made:
        answer = self.call("create_worker_configuration", properties.rest())
        arn, revision = answer["workerConfigurationArn"], answer["latestRevision"]["revision"]
        return Made(arn, {"WorkerConfigurationArn": arn, "Revision": revision})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_worker_configuration(workerConfigurationArn=made.id)


class Connector(Kind):
    type, service = "AWS::KafkaConnect::Connector", "kafkaconnect"

    def create(self, properties: Properties) -> Made:
        arn = self.call("create_connector", properties.rest())["connectorArn"]
        return Made(arn, {"ConnectorArn": arn})

    def update(self, made: Made, properties: Properties, before: Mapping[str, Any]) -> Made:
        """One call for each: MSK Connect takes one of them at a time."""
        changed = {name for name in properties.rest() if properties[name] != before.get(name)}
        if changed - CHANGEABLE:
            return super().update(made, properties, before)
        for name in sorted(changed):
            version = self.client.describe_connector(connectorArn=made.id)["currentVersion"]
            self.call("update_connector", {name: properties[name]}, connectorArn=made.id, currentVersion=version)
        return made

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_connector(connectorArn=made.id)
