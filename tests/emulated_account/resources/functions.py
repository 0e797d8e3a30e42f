"""Lambda functions and layers: kept with their code, never run. What handlers would do is in handlers/."""

from collections.abc import Mapping
from typing import Any

from tests.emulated_account.resources.kind import Kind, Made, Properties


class Function(Kind):
    type, service = "AWS::Lambda::Function", "lambda"

    def create(self, properties: Properties) -> Made:
        name = properties.get("FunctionName") or self.place.name()
        answer = self.call("create_function", properties.rest(), FunctionName=name)
        if group := properties.get("LoggingConfig", {}).get("LogGroup"):
            self.place.logs.chosen[name] = group
        return Made(name, {"Arn": answer["FunctionArn"]})

    def update(self, made: Made, properties: Properties, before: Mapping[str, Any]) -> Made:
        code, tags = properties["Code"], properties.get("Tags", [])
        if code != before["Code"]:
            self.call("update_function_code", code, FunctionName=made.id)
        settings = {name: value for name, value in properties.rest().items() if before.get(name) != value}
        self.call("update_function_configuration", settings, FunctionName=made.id)
        self.call("tag_resource", Resource=made.attributes["Arn"], Tags=tags)
        return made

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_function(FunctionName=made.id)


class LayerVersion(Kind):
    type, service = "AWS::Lambda::LayerVersion", "lambda"

    def create(self, properties: Properties) -> Made:
        name = properties.get("LayerName") or self.place.name(140, stack=False)
        answer = self.call("publish_layer_version", properties.rest(), LayerName=name)
        return Made(answer["LayerVersionArn"], {"LayerVersionArn": answer["LayerVersionArn"]})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        _, _, _, _, _, _, name, version = made.id.split(":")
        self.client.delete_layer_version(LayerName=name, VersionNumber=int(version))


class Permission(Kind):
    """Who else may call a function."""

    type, service = "AWS::Lambda::Permission", "lambda"

    def create(self, properties: Properties) -> Made:
        id = self.place.name()
        self.call("add_permission", properties.rest(), StatementId=id)
        return Made(id, {"Id": id})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.remove_permission(FunctionName=properties["FunctionName"], StatementId=made.id)
