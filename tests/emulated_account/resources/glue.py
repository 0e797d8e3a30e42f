"""The catalog."""

from collections.abc import Mapping
from typing import Any

from tests.emulated_account.resources.kind import Kind, Made, Properties


class Database(Kind):
    type, service = "AWS::Glue::Database", "glue"

    def create(self, properties: Properties) -> Made:
        self.call("create_database", properties.rest())
        return Made(properties["DatabaseInput"]["Name"])

    def update(self, made: Made, properties: Properties, before: Mapping[str, Any]) -> Made:
        self.call("update_database", properties.rest(), Name=made.id)
        return made

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_database(Name=made.id)


class Table(Kind):
    type, service = "AWS::Glue::Table", "glue"

    def create(self, properties: Properties) -> Made:
        self.call("create_table", properties.rest())
        return Made(properties["TableInput"]["Name"])

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_table(DatabaseName=properties["DatabaseName"], Name=made.id)
