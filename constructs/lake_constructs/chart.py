"""A Helm release of one of this repository's own charts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aws_cdk import Duration
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_s3_assets as assets
from constructs import Construct

NAMESPACE = "lake"
# Helm waits so long for the pods, and then again for each hook. All of it, and the hooks of a rollback, must end within
# the 15 minutes of the CDK's function: a release that it leaves is stuck for good (aws/aws-cdk#22257, AWS-7).
PATIENCE = Duration.minutes(8)


class Chart(eks.HelmChart):
    """Installs the chart in the folder. It waits until the pods are ready, and rolls back if they never are."""

    def __init__(
        self, scope: Construct, id: str, *, cluster: eks.ICluster, folder: Path, values: Mapping[str, Any]
    ) -> None:
        super().__init__(
            scope,
            id,
            cluster=cluster,
            # ci/ holds values for tests: a change there does not change the release.
            chart_asset=assets.Asset(scope, f"{id}Chart", path=str(folder), exclude=["ci"]),
            release=folder.name,
            namespace=NAMESPACE,
            values=values,
            atomic=True,
            timeout=PATIENCE,
        )
