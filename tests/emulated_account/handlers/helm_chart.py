"""Helm releases on the emulated cluster."""

import json
from collections.abc import Mapping
from typing import Any

from tests.emulated_account import helm
from tests.emulated_account.errors import NotEmulated
from tests.emulated_account.handlers.handler import Handler
from tests.emulated_account.resources.kind import Made, Properties

# How long to wait and what to undo: nothing takes time here, and nothing is done by halves.
WITHOUT_EFFECT = ("Atomic", "CreateNamespace", "Timeout", "Wait")


class HelmChart(Handler):
    type = "Custom::AWSCDK-EKS-HelmChart"

    def create(self, properties: Properties) -> Made:
        return self._install(properties)

    def update(self, made: Made, properties: Properties, before: Mapping[str, Any]) -> Made:
        place = ("ClusterName", "Namespace", "Release")
        if [properties[name] for name in place] != [before[name] for name in place]:
            raise NotEmulated("a Helm release that moves")
        return self._install(properties)

    def _install(self, properties: Properties) -> Made:
        self.function(properties)
        for name in WITHOUT_EFFECT:
            properties.get(name)
        eks = self.place.clients("eks", self.place.region)
        cluster = eks.describe_cluster(name=properties["ClusterName"])["cluster"]
        release = helm.install(
            self._chart(properties["ChartAssetURL"]),
            properties["Release"],
            properties["Namespace"],
            json.loads(properties["Values"]),
            cluster["version"],
        )
        self.place.releases[self._key(properties)] = release
        return Made(release.name)

    def _chart(self, url: str) -> bytes:
        bucket, _, key = url.removeprefix("s3://").partition("/")
        s3 = self.place.clients("s3", self.place.region)
        return bytes(s3.get_object(Bucket=bucket, Key=key)["Body"].read())

    def _key(self, properties: Mapping[str, Any]) -> tuple[str, str, str]:
        return self.place.region, properties["ClusterName"], properties["Release"]

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        del self.place.releases[self._key(properties)]
