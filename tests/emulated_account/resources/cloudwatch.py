"""Alarms and dashboards."""

from collections.abc import Mapping
from typing import Any

from tests.emulated_account.resources.kind import Made, Properties, Put


class Alarm(Put):
    type, service = "AWS::CloudWatch::Alarm", "cloudwatch"

    def create(self, properties: Properties) -> Made:
        return self.put(properties.get("AlarmName") or self.place.name(255), properties)

    def put(self, id: str, properties: Properties) -> Made:
        self.call("put_metric_alarm", {**properties.rest(), "AlarmName": id})
        return Made(id, {"Arn": self.arn("cloudwatch", f"alarm:{id}")})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_alarms(AlarmNames=[made.id])


class Dashboard(Put):
    type, service = "AWS::CloudWatch::Dashboard", "cloudwatch"

    def create(self, properties: Properties) -> Made:
        return self.put(properties.get("DashboardName") or self.place.name(255), properties)

    def put(self, id: str, properties: Properties) -> Made:
        self.call("put_dashboard", {**properties.rest(), "DashboardName": id})
        return Made(id)

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_dashboards(DashboardNames=[made.id])
