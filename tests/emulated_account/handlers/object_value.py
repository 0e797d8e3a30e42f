"""A value that Kubernetes knows: here the address of a load balancer, the only one that is emulated."""

import hashlib
from collections.abc import Mapping
from typing import Any

from tests.emulated_account.errors import NotEmulated, Refused
from tests.emulated_account.handlers.handler import Handler
from tests.emulated_account.helm import Manifest
from tests.emulated_account.resources.kind import Made, Properties

ADDRESS = ".status.loadBalancer.ingress[0].hostname"


class ObjectValue(Handler):
    type = "Custom::AWSCDK-EKS-KubernetesObjectValue"

    def create(self, properties: Properties) -> Made:
        self.function(properties)
        properties.get("TimeoutSeconds")
        if (properties["ObjectType"], properties["JsonPath"]) != ("service", ADDRESS):
            raise NotEmulated(f"{properties['JsonPath']} of a {properties['ObjectType']}")
        service = self._service(properties["ClusterName"], properties["ObjectNamespace"], properties["ObjectName"])
        return Made(self.place.name(), {"Value": self._address(service)})

    def update(self, made: Made, properties: Properties, before: Mapping[str, Any]) -> Made:
        return Made(made.id, self.create(properties).attributes)

    def _service(self, cluster: str, namespace: str, name: str) -> Manifest:
        for (region, place, _), release in self.place.releases.items():
            if (region, place, release.namespace) == (self.place.region, cluster, namespace):
                found = [one for one in release.manifests if one["kind"] == "Service"]
                matching = [one for one in found if one["metadata"]["name"] == name]
                if matching:
                    return matching[0]
        raise Refused(f"no service {name} in namespace {namespace} of {cluster}")

    def _address(self, service: Manifest) -> str:
        """As AWS's controller names an internal load balancer."""
        if service["spec"].get("type") != "LoadBalancer":
            raise Refused(f"service {service['metadata']['name']} has no load balancer")
        name = service["metadata"]["name"]
        ending = hashlib.sha256(f"{self.place.stack}/{name}".encode()).hexdigest()[:16]
        return f"k8s-lake-{name[:8]}-{ending}.elb.{self.place.region}.amazonaws.com"

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        """Nothing was made."""
