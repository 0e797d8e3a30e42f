"""What the CDK says about itself."""

from collections.abc import Mapping
from typing import Any

from tests.emulated_account.resources.kind import Made, Properties, Put


class Metadata(Put):
    """Makes nothing, on AWS too."""

    type, service = "AWS::CDK::Metadata", "cloudformation"

    def create(self, properties: Properties) -> Made:
        return self.put(self.place.name(), properties)

    def put(self, id: str, properties: Properties) -> Made:
        properties.rest()
        return Made(id)

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        """There is nothing."""
