"""What stacks share: the account's clients, its Helm releases, and each other's exports."""

import json
from dataclasses import dataclass, field
from typing import Any

from tests.emulated_account.clients import ACCOUNT, Clients
from tests.emulated_account.cloudformation.stack import GONE, Stack
from tests.emulated_account.errors import Refused
from tests.emulated_account.helm import Release
from tests.emulated_account.journal import Journal
from tests.emulated_account.log_writers import LogWriters
from tests.emulated_account.resources.kind import Place


@dataclass
class World:
    """All regions of the account."""

    clients: Clients
    journal: Journal
    logs: LogWriters
    releases: dict[tuple[str, str, str], Release] = field(default_factory=dict)
    stacks: dict[str, Stack] = field(default_factory=dict)  # by id; those that are gone too
    _zones: dict[str, list[str]] = field(default_factory=dict)  # by region; they never change

    def standing(self, region: str) -> list[Stack]:
        return [stack for stack in self.stacks.values() if stack.region == region and stack.status != GONE]

    def found(self, region: str, name: str) -> Stack | None:
        """A stack by its name or id."""
        matching = [one for one in self.standing(region) if name in (one.name, one.id)]
        return matching[0] if matching else None

    def exports(self, region: str) -> dict[str, str]:
        return {name: value for stack in self.standing(region) for name, value in stack.exports.items()}

    def imported(self, region: str, name: str) -> str:
        exports = self.exports(region)
        if name not in exports:
            raise Refused(f"No export named {name} found.")
        return exports[name]

    def importers(self, region: str, name: str) -> list[str]:
        return [stack.name for stack in self.standing(region) if name in stack.imports]

    def place(self, stack: Stack, logical_id: str) -> Place:
        return Place(stack.name, logical_id, stack.region, self.clients, self.logs, self.releases, stack.tags)

    def secret(self, region: str, id: str) -> str:
        return str(self.clients("secretsmanager", region).get_secret_value(SecretId=id)["SecretString"])

    def parameter(self, region: str, name: str) -> str:
        return str(self.clients("ssm", region).get_parameter(Name=name)["Parameter"]["Value"])

    def zones(self, region: str) -> list[str]:
        if region not in self._zones:
            found = self.clients("ec2", region).describe_availability_zones()["AvailabilityZones"]
            self._zones[region] = [zone["ZoneName"] for zone in found]
        return self._zones[region]

    def pseudo(self, stack: Stack) -> dict[str, Any]:
        return {
            "AWS::AccountId": ACCOUNT,
            "AWS::Partition": "aws",
            "AWS::Region": stack.region,
            "AWS::StackId": stack.id,
            "AWS::StackName": stack.name,
            "AWS::URLSuffix": "amazonaws.com",
        }


def shown(value: Any) -> str:
    """An output is always text."""
    return value if isinstance(value, str) else json.dumps(value)
