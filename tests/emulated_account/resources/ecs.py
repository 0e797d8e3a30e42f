"""Tasks and services of containers, on Fargate."""

from collections.abc import Mapping
from typing import Any

from tests.emulated_account.resources.kind import Kind, Made, Properties


class Cluster(Kind):
    type, service = "AWS::ECS::Cluster", "ecs"

    def create(self, properties: Properties) -> Made:
        name = properties.get("ClusterName") or self.place.name()
        found = self.call("create_cluster", properties.rest(), clusterName=name)["cluster"]
        return Made(found["clusterName"], {"Arn": found["clusterArn"]})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_cluster(cluster=made.id)


class TaskDefinition(Kind):
    """Every property of it is create-only: a change is another revision of the family."""

    type, service = "AWS::ECS::TaskDefinition", "ecs"

    def create(self, properties: Properties) -> Made:
        found = self.call("register_task_definition", properties.rest())["taskDefinition"]
        return Made(found["taskDefinitionArn"], {"TaskDefinitionArn": found["taskDefinitionArn"]})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.deregister_task_definition(taskDefinition=made.id)


class Service(Kind):
    type, service = "AWS::ECS::Service", "ecs"

    def create(self, properties: Properties) -> Made:
        name = properties.get("ServiceName") or self.place.name()
        found = self.call("create_service", properties.rest(), serviceName=name)["service"]
        return Made(found["serviceArn"], {"Name": name, "ServiceArn": found["serviceArn"]})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_service(cluster=properties["Cluster"], service=made.attributes["Name"], force=True)
