"""Rules on events."""

from collections.abc import Mapping
from typing import Any

from tests.emulated_account.resources.kind import Made, Properties, Put


class Rule(Put):
    type, service = "AWS::Events::Rule", "events"

    def create(self, properties: Properties) -> Made:
        return self.put(properties.get("Name") or self.place.name(), properties)

    def put(self, id: str, properties: Properties) -> Made:
        targets = properties.get("Targets", [])
        arn = self.call("put_rule", {**properties.rest(), "Name": id})["RuleArn"]
        if targets:
            self.call("put_targets", Rule=id, Targets=targets)
        return Made(id, {"Arn": arn})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        ids = [one["Id"] for one in properties.get("Targets", [])]
        if ids:
            self.client.remove_targets(Rule=made.id, Ids=ids)
        self.client.delete_rule(Name=made.id)
