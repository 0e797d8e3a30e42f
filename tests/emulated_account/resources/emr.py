"""EMR: clusters, their steps, and how they encrypt."""

import json
from collections.abc import Mapping
from typing import Any

from tests.emulated_account.resources.kind import Kind, Made, Properties

# In a template and in the API.
RENAMED = {"ConfigurationProperties": "Properties", "StepProperties": "Properties"}
# In a template on the one hand, in the API a list of groups on the other.
GROUPS = {"MasterInstanceGroup": "MASTER", "CoreInstanceGroup": "CORE"}
POLICIES = {
    "ManagedScalingPolicy": "put_managed_scaling_policy",
    "AutoTerminationPolicy": "put_auto_termination_policy",
}


class Cluster(Kind):
    type, service = "AWS::EMR::Cluster", "emr"

    def create(self, properties: Properties) -> Made:
        policies = {name: properties[name] for name in POLICIES if name in properties}
        instances = _instances(properties["Instances"])
        answer = self.call("run_job_flow", renamed(properties.rest()), Instances=instances)
        id = answer["JobFlowId"]
        for name, policy in policies.items():
            self.call(POLICIES[name], {name: policy}, ClusterId=id)
        found = self.client.describe_cluster(ClusterId=id)["Cluster"]
        return Made(id, {"Id": id, "MasterPublicDNS": found.get("MasterPublicDnsName", "")})

    def update(self, made: Made, properties: Properties, before: Mapping[str, Any]) -> Made:
        """The policies can be changed, and the number of steps at once."""
        known = {*POLICIES, "StepConcurrencyLevel"}
        changed = {
            name for name in properties.rest().keys() | before.keys() if properties.get(name) != before.get(name)
        }
        if changed - known:
            return super().update(made, properties, before)
        for name in sorted(changed & POLICIES.keys() & properties.keys()):
            self.call(POLICIES[name], {name: properties[name]}, ClusterId=made.id)
        if "StepConcurrencyLevel" in changed:
            level = int(properties["StepConcurrencyLevel"])
            self.client.modify_cluster(ClusterId=made.id, StepConcurrencyLevel=level)
        return made

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.terminate_job_flows(JobFlowIds=[made.id])


def renamed(value: Any) -> Any:
    if isinstance(value, list):
        return [renamed(one) for one in value]
    if isinstance(value, Mapping):
        return {RENAMED.get(key, key): renamed(one) for key, one in value.items()}
    return value


def _instances(value: Mapping[str, Any]) -> dict[str, Any]:
    groups = [{**value[name], "InstanceRole": role} for name, role in GROUPS.items() if name in value]
    return {**{name: one for name, one in value.items() if name not in GROUPS}, "InstanceGroups": groups}


class Step(Kind):
    type, service = "AWS::EMR::Step", "emr"

    def create(self, properties: Properties) -> Made:
        cluster = properties["JobFlowId"]
        wish = {name: value for name, value in properties.rest().items() if name != "JobFlowId"}
        ids = self.call("add_job_flow_steps", JobFlowId=cluster, Steps=[renamed(wish)])["StepIds"]
        return Made(ids[0], {"Id": ids[0]})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        """A step that has begun can't be taken back: CloudFormation forgets it."""


class SecurityConfiguration(Kind):
    type, service = "AWS::EMR::SecurityConfiguration", "emr"

    def create(self, properties: Properties) -> Made:
        name = properties.get("Name") or self.place.name()
        text = json.dumps(properties["SecurityConfiguration"])
        self.client.create_security_configuration(Name=name, SecurityConfiguration=text)
        return Made(name)

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_security_configuration(Name=made.id)
