"""The deployed stacks of one environment, which may be older than its definition."""

import json
from collections.abc import Iterator
from typing import Any

from botocore.exceptions import ClientError

from lake.config.errors import LakeError
from lake.config.report import Report
from lake.deployments.account import Account, wait
from lake.deployments.deployment import Resource

# In the order in which they are deployed: a stack uses only earlier ones.
PARTS = ("storage", "network", "source", "streaming", "catalog", "connect", "processing", "operations")
DELETED = "DELETE_COMPLETE"
DELETE_WITHIN_S = 3600.0  # MSK and EKS take half an hour
KEEPING = ("Retain", "RetainExceptOnCreate")
LOST = {
    "AWS::Glue::Database": "the names of its tables",
    "AWS::KMS::Key": "whatever only this key opens",
    "AWS::Logs::LogGroup": "its log",
    "AWS::MSK::Cluster": "all topics",
    "AWS::MSK::ServerlessCluster": "all topics",
    "AWS::RDS::DBInstance": "the source databases with all their rows",
    "AWS::S3::Bucket": "its objects",
    "AWS::SecretsManager::Secret": "a password",
}


class Stacks:
    """lake-<environment>-<part>."""

    def __init__(self, account: Account, environment: str) -> None:
        self._account = account
        self._cloudformation = account.client("cloudformation")
        self._prefix = f"lake-{environment}"

    def statuses(self) -> dict[str, str]:
        """The statuses of the existing stacks, by part."""
        found = {part: self._described(f"{self._prefix}-{part}") for part in PARTS}
        return {part: str(stack["StackStatus"]) for part, stack in found.items() if stack}

    def protected(self) -> bool:
        """True if CloudFormation refuses to delete a stack: the file may have been edited and not deployed since."""
        found = (self._described(f"{self._prefix}-{part}") for part in PARTS)
        return any(stack.get("EnableTerminationProtection") for stack in found if stack)

    def resources(self) -> list[Resource]:
        """The resources of all stacks. Each stack itself comes after its resources."""
        return [one for part in self.statuses() for one in self._of(f"{self._prefix}-{part}")]

    def _of(self, name: str) -> Iterator[Resource]:
        kept = self._kept(name)
        for one in self._resources(name):
            kind, id = str(one["ResourceType"]), one["LogicalResourceId"]
            yield Resource(name, kind, one.get("PhysicalResourceId") or id, LOST.get(kind, ""), id in kept)
        yield Resource(name, "stack", name)

    def _kept(self, name: str) -> set[str]:
        """The logical ids of the resources that a deletion of the stack retains."""
        body = self._cloudformation.get_template(StackName=name)["TemplateBody"]
        template: dict[str, Any] = json.loads(body) if isinstance(body, str) and body else body or {}
        resources = template.get("Resources", {})
        return {id for id, one in resources.items() if one.get("DeletionPolicy") in KEEPING}

    def _resources(self, name: str) -> Iterator[dict[str, Any]]:
        every = self._account.pages("cloudformation", "list_stack_resources", "StackResourceSummaries", StackName=name)
        return (one for one in every if one["ResourceStatus"] != DELETED)

    def buckets(self) -> dict[str, str]:
        """The buckets of the storage stack: names by their logical ids."""
        name = f"{self._prefix}-storage"
        found = self._resources(name) if self._described(name) else ()
        return {
            one["LogicalResourceId"]: one["PhysicalResourceId"]
            for one in found
            if one["ResourceType"] == "AWS::S3::Bucket" and one.get("PhysicalResourceId")
        }

    def delete(self, part: str, report: Report) -> None:
        """Returns once the stack is deleted. LakeError with CloudFormation's reason if it cannot be."""
        name = f"{self._prefix}-{part}"
        stack = self._described(name)
        if stack is None:
            return
        report(f"deletes {name}")
        self._cloudformation.delete_stack(StackName=name)
        wait(lambda: self._ended(str(stack["StackId"])), f"the deletion of {name}", DELETE_WITHIN_S)
        self._check(name, str(stack["StackId"]))

    def _ended(self, id: str) -> bool:
        stack = self._described(id)
        return stack is None or not str(stack["StackStatus"]).endswith("_IN_PROGRESS")

    def _check(self, name: str, id: str) -> None:
        stack = self._described(id)
        if stack and stack["StackStatus"] != DELETED:
            reason = self._first_failure(id) or stack.get("StackStatusReason", stack["StackStatus"])
            raise LakeError(f"not deleted: {reason}", f"stack {name}", "remove the reason, then run it again")

    def _first_failure(self, id: str) -> str:
        """The reason of the newest failure of a resource. The stack's own events only count the failures."""
        events = self._account.pages("cloudformation", "describe_stack_events", "StackEvents", StackName=id)
        for one in events:
            if one["ResourceStatus"].endswith("_FAILED") and one.get("PhysicalResourceId") != id:
                return f"{one['LogicalResourceId']}: {one.get('ResourceStatusReason', 'no reason given')}"
        return ""

    def _described(self, name: str) -> dict[str, Any] | None:
        try:
            return dict(self._cloudformation.describe_stacks(StackName=name)["Stacks"][0])
        except ClientError as error:
            if "does not exist" in str(error):
                return None
            raise
