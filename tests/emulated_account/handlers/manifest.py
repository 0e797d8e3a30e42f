"""Objects that are applied to the emulated cluster beside its charts."""

import json
from collections.abc import Mapping
from typing import Any

from tests.emulated_account.errors import Refused
from tests.emulated_account.handlers.handler import Handler
from tests.emulated_account.resources.kind import Made, Properties

# The kinds that an EKS cluster in Auto Mode knows by these names.
KNOWN = {("v1", "ConfigMap"), ("eks.amazonaws.com/v1", "NodeClass"), ("karpenter.sh/v1", "NodePool")}


class Manifest(Handler):
    type = "Custom::AWSCDK-EKS-KubernetesResource"

    def create(self, properties: Properties) -> Made:
        self.function(properties)
        for name in ("Overwrite", "PruneLabel", "SkipValidation"):
            properties.get(name)
        self.place.clients("eks", self.place.region).describe_cluster(name=properties["ClusterName"])
        for one in json.loads(properties["Manifest"]):
            if (one["apiVersion"], one["kind"]) not in KNOWN or not one["metadata"]["name"]:
                raise Refused(f"no matches for kind {one['kind']} in version {one['apiVersion']}")
        return Made(self.place.name())

    def update(self, made: Made, properties: Properties, before: Mapping[str, Any]) -> Made:
        return Made(made.id, self.create(properties).attributes)

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        """The objects end with their cluster."""
