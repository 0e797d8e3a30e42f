"""Keys."""

from collections.abc import Mapping
from typing import Any

from tests.emulated_account.resources.kind import Kind, Made, Properties
from tests.emulated_account.resources.sizes import check_size, size

WAITING = "PendingWindowInDays"  # a property of the key, but said at its deletion
POLICY_SIZE = 32 * 1024


class Key(Kind):
    type, service = "AWS::KMS::Key", "kms"

    def create(self, properties: Properties) -> Made:
        texts = {"Description": properties.get("Description", ""), "Policy": self._policy(properties)}
        tags = [{"TagKey": tag["Key"], "TagValue": tag["Value"]} for tag in self._tags(properties)]
        key = self.call("create_key", texts, Tags=tags)["KeyMetadata"]
        if properties.get("EnableKeyRotation"):
            self.client.enable_key_rotation(KeyId=key["KeyId"])
        properties.get(WAITING)
        return Made(key["KeyId"], {"Arn": key["Arn"], "KeyId": key["KeyId"]})

    def _policy(self, properties: Properties) -> Any:
        check_size("The key policy", size(properties["KeyPolicy"]), POLICY_SIZE)
        return properties["KeyPolicy"]

    def _tags(self, properties: Properties) -> list[dict[str, str]]:
        return [*properties.get("Tags", []), *self.place.tags]

    def update(self, made: Made, properties: Properties, before: Mapping[str, Any]) -> Made:
        """Only the policy can be changed so far."""
        if {**properties, "KeyPolicy": None} != {**before, "KeyPolicy": None}:
            return super().update(made, properties, before)
        properties.rest()
        self.call("put_key_policy", KeyId=made.id, PolicyName="default", Policy=self._policy(properties))
        return made

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.call("schedule_key_deletion", {WAITING: properties.get(WAITING, 30)}, KeyId=made.id)
