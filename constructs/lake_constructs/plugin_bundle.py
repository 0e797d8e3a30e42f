"""The Connect plug-ins, as one checksummed archive: the same files that the local lake runs."""

import hashlib
from pathlib import Path

from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3_assets as assets
from constructs import Construct


class PluginBundle(assets.Asset):
    """plugins/<name>/*.jar and worker/*.jar; Connect compares the archive with sha256 before it unpacks it."""

    def __init__(self, scope: Construct, id: str, *, archive: Path) -> None:
        super().__init__(scope, id, path=str(archive))
        with archive.open("rb") as file:
            self.sha256 = hashlib.file_digest(file, "sha256").hexdigest()


def read_asset(*parts: assets.Asset) -> iam.PolicyStatement:
    """Read exactly these objects."""
    objects = [part.bucket.arn_for_objects(part.s3_object_key) for part in parts]
    return iam.PolicyStatement(actions=["s3:GetObject"], resources=objects)
