"""Application Auto Scaling: what may grow, and when it does."""

from collections.abc import Mapping
from typing import Any

from tests.emulated_account.resources.kind import Made, Properties, Put


class ScalableTarget(Put):
    type, service = "AWS::ApplicationAutoScaling::ScalableTarget", "application-autoscaling"

    def create(self, properties: Properties) -> Made:
        return self.put("|".join(_of(properties).values()), properties)

    def put(self, id: str, properties: Properties) -> Made:
        self.call("register_scalable_target", {**properties.rest(), **_of(properties)})
        return Made(id, {"Id": id})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.deregister_scalable_target(**_of(properties))


class ScalingPolicy(Put):
    type, service = "AWS::ApplicationAutoScaling::ScalingPolicy", "application-autoscaling"

    def create(self, properties: Properties) -> Made:
        return self.put(properties["PolicyName"], properties)

    def put(self, id: str, properties: Properties) -> Made:
        target = _split(properties["ScalingTargetId"])
        return Made(self.call("put_scaling_policy", {**properties.rest(), "PolicyName": id}, **target)["PolicyARN"])

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_scaling_policy(PolicyName=properties["PolicyName"], **_split(properties["ScalingTargetId"]))


def _of(properties: Mapping[str, Any]) -> dict[str, str]:
    return {name: properties[name] for name in ("ResourceId", "ScalableDimension", "ServiceNamespace")}


def _split(target: str) -> dict[str, str]:
    """CloudFormation joins what the API wants apart."""
    return dict(zip(("ResourceId", "ScalableDimension", "ServiceNamespace"), target.split("|"), strict=True))
