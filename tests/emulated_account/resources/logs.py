"""Log groups and what is counted in them."""

from collections.abc import Mapping
from typing import Any

from tests.emulated_account.resources.kind import Kind, Made, Properties, Put


class LogGroup(Kind):
    type, service = "AWS::Logs::LogGroup", "logs"

    def create(self, properties: Properties) -> Made:
        name = properties.get("LogGroupName") or self.place.name(512)
        days = properties.get("RetentionInDays")
        self.call("create_log_group", properties.rest(), LogGroupName=name)
        if days:
            self.call("put_retention_policy", LogGroupName=name, RetentionInDays=days)
        return Made(name, {"Arn": self.arn("logs", f"log-group:{name}:*")})

    def update(self, made: Made, properties: Properties, before: Mapping[str, Any]) -> Made:
        """Only the days can be changed so far."""
        if {**properties, "RetentionInDays": 0} != {**before, "RetentionInDays": 0}:
            return super().update(made, properties, before)
        properties.rest()
        self.call("put_retention_policy", LogGroupName=made.id, RetentionInDays=properties["RetentionInDays"])
        return made

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_log_group(logGroupName=made.id)


class MetricFilter(Put):
    type, service = "AWS::Logs::MetricFilter", "logs"

    def create(self, properties: Properties) -> Made:
        return self.put(properties.get("FilterName") or self.place.name(512), properties)

    def put(self, id: str, properties: Properties) -> Made:
        self.call("put_metric_filter", {"FilterName": id, **properties.rest()})
        return Made(id)

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_metric_filter(logGroupName=properties["LogGroupName"], filterName=made.id)
