"""Work groups and saved queries."""

from collections.abc import Mapping
from typing import Any

from tests.emulated_account.resources.kind import Kind, Made, Properties

RECURSIVE = "RecursiveDeleteOption"  # a property of the group, but said at its deletion


class WorkGroup(Kind):
    type, service = "AWS::Athena::WorkGroup", "athena"

    def create(self, properties: Properties) -> Made:
        properties.get(RECURSIVE)
        settings = properties.get("WorkGroupConfiguration", {})
        self.call("create_work_group", properties.rest(), Configuration=settings)
        return Made(properties["Name"])

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.call("delete_work_group", {RECURSIVE: properties.get(RECURSIVE, False)}, WorkGroup=made.id)


class NamedQuery(Kind):
    type, service = "AWS::Athena::NamedQuery", "athena"

    def create(self, properties: Properties) -> Made:
        id = self.call("create_named_query", properties.rest())["NamedQueryId"]
        return Made(id, {"NamedQueryId": id})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_named_query(NamedQueryId=made.id)
