"""Templates of a few lines, deployed as the command line does it, where no story is played."""

import json
from typing import Any

from tests.emulated_account.account import Account

REGION = "us-west-2"
Resource = dict[str, Any]


class SmallStacks:
    """Stacks by their names."""

    def __init__(self, account: Account) -> None:
        self.account, self.client = account, account.client("cloudformation", REGION)

    def deploy(self, name: str, kind: str = "CREATE", /, outputs: Resource | None = None, **resources: Resource) -> str:
        """The status in the end."""
        self._prepare(name, kind, outputs or {}, resources)
        self.client.execute_change_set(StackName=name, ChangeSetName="deploy")
        return self.status(name)

    def changes(self, name: str, /, **resources: Resource) -> dict[str, dict[str, Any]]:
        """What a change set says of each resource that an update would touch; nothing is carried out."""
        self._prepare(name, "UPDATE", {}, resources)
        found = self.client.describe_change_set(StackName=name, ChangeSetName="deploy")["Changes"]
        return {one["ResourceChange"]["LogicalResourceId"]: one["ResourceChange"] for one in found}

    def _prepare(self, name: str, kind: str, outputs: Resource, resources: dict[str, Resource]) -> None:
        template = json.dumps({"Resources": resources, "Outputs": outputs})
        names = {"StackName": name, "ChangeSetName": "deploy"}
        self.client.create_change_set(**names, ChangeSetType=kind, TemplateBody=template)

    def status(self, name: str) -> str:
        return str(self.client.describe_stacks(StackName=name)["Stacks"][0]["StackStatus"])

    def reason(self, name: str) -> str:
        """Of the newest failure."""
        events = self.client.describe_stack_events(StackName=name)["StackEvents"]
        return next(str(one["ResourceStatusReason"]) for one in events if one["ResourceStatus"].endswith("_FAILED"))

    def ids(self, name: str) -> dict[str, str]:
        """Physical by logical."""
        found = self.client.describe_stack_resources(StackName=name)["StackResources"]
        return {one["LogicalResourceId"]: one["PhysicalResourceId"] for one in found}

    def delete(self, *names: str) -> None:
        for name in names:
            self.client.delete_stack(StackName=name)


def parameter(value: Any, name: str = "", **more: Any) -> Resource:
    properties = {"Type": "String", "Value": value, **({"Name": name} if name else {})}
    return {"Type": "AWS::SSM::Parameter", "Properties": properties, **more}


def resource(type: str, **properties: Any) -> Resource:
    return {"Type": type, "Properties": properties}
