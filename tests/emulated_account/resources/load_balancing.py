"""Load balancers, their listeners and what they send to."""

from collections.abc import Mapping
from typing import Any

from tests.emulated_account.resources.kind import Kind, Made, Properties

LONGEST = 32  # letters in a name


class LoadBalancer(Kind):
    type, service = "AWS::ElasticLoadBalancingV2::LoadBalancer", "elbv2"

    def create(self, properties: Properties) -> Made:
        attributes = properties.get("LoadBalancerAttributes", [])
        name = properties.get("Name") or self.place.name(LONGEST)
        (found,) = self.call("create_load_balancer", properties.rest(), Name=name)["LoadBalancers"]
        arn = found["LoadBalancerArn"]
        self.call("modify_load_balancer_attributes", LoadBalancerArn=arn, Attributes=attributes)
        return Made(arn, {"LoadBalancerArn": arn, "DNSName": found["DNSName"], "LoadBalancerFullName": full_name(arn)})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_load_balancer(LoadBalancerArn=made.id)


class TargetGroup(Kind):
    type, service = "AWS::ElasticLoadBalancingV2::TargetGroup", "elbv2"

    def create(self, properties: Properties) -> Made:
        attributes = properties.get("TargetGroupAttributes", [])
        name = properties.get("Name") or self.place.name(LONGEST)
        (found,) = self.call("create_target_group", properties.rest(), Name=name)["TargetGroups"]
        arn = found["TargetGroupArn"]
        self.call("modify_target_group_attributes", TargetGroupArn=arn, Attributes=attributes)
        return Made(arn, {"TargetGroupArn": arn, "TargetGroupFullName": arn.rpartition(":")[2]})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_target_group(TargetGroupArn=made.id)


class Listener(Kind):
    type, service = "AWS::ElasticLoadBalancingV2::Listener", "elbv2"

    def create(self, properties: Properties) -> Made:
        (found,) = self.call("create_listener", properties.rest())["Listeners"]
        return Made(found["ListenerArn"], {"ListenerArn": found["ListenerArn"]})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_listener(ListenerArn=made.id)


def full_name(arn: str) -> str:
    """net/NAME/ID, as metrics name it."""
    return arn.rpartition(":loadbalancer/")[2]
