"""The Connect plug-ins, as one checksummed archive: the very files that the local lake runs."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3_assets as assets
from constructs import Construct

from lake_constructs.archive import files, write_tar_gz
from lake_constructs.brought_plugin import BroughtPlugin


class PluginBundle(assets.Asset):
    """plugins/<name>/*.jar and worker/*.jar; Connect compares the archive with sha256 before it unpacks it."""

    def __init__(
        self, scope: Construct, id: str, *, plugins: Path, worker: Path, brought: Sequence[BroughtPlugin] = ()
    ) -> None:
        entries = {f"plugins/{path.relative_to(plugins).as_posix()}": path for path in files(plugins, "*.jar")}
        entries |= {f"worker/{path.name}": path for path in files(worker, "*.jar")}
        with tempfile.TemporaryDirectory() as place:
            for plugin in brought:
                jars = plugin.unpack(Path(place) / plugin.name)
                entries |= {f"plugins/{plugin.name}/{jar.name}": jar for jar in jars}
            archive = Path(place) / "plugins.tar.gz"
            self.sha256 = write_tar_gz(archive, entries)
            super().__init__(scope, id, path=str(archive))


def read_asset(*parts: assets.Asset) -> iam.PolicyStatement:
    """Read these very objects."""
    objects = [part.bucket.arn_for_objects(part.s3_object_key) for part in parts]
    return iam.PolicyStatement(actions=["s3:GetObject"], resources=objects)
