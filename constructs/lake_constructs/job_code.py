"""What the jobs are made of, uploaded: the PySpark package, the main script, the jars and the start script."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aws_cdk import aws_s3_assets as assets
from constructs import Construct

from lake_constructs.archive import files, write_zip

SCRIPTS = Path(__file__).parent / "scripts"


class JobCode(Construct):
    """The folder spark_jobs/ of the local lake as it is, with the jars that the cluster lacks."""

    def __init__(self, scope: Construct, id: str, *, package: Path, main: str, jars: Sequence[Path]) -> None:
        super().__init__(scope, id)
        self.package = self._zipped(package)
        self.main = assets.Asset(self, "Main", path=str(package / main))
        self.pools = assets.Asset(self, "Pools", path=str(package / "pools.xml"))
        self.jars = [assets.Asset(self, jar.name, path=str(jar)) for jar in jars]
        self.start = script(self, "Start", "start_job.sh")

    def _zipped(self, package: Path) -> assets.Asset:
        with tempfile.TemporaryDirectory() as place:
            archive = Path(place) / "package.zip"
            write_zip(archive, package.parent, files(package, "*.py"))
            return assets.Asset(self, "Package", path=str(archive))

    @property
    def parts(self) -> list[assets.Asset]:
        return [self.package, self.main, self.pools, *self.jars, self.start]


class JsonFile(assets.Asset):
    """A rendered file, uploaded."""

    def __init__(self, scope: Construct, id: str, *, content: Mapping[str, Any]) -> None:
        with tempfile.TemporaryDirectory() as place:
            file = Path(place) / "content.json"
            file.write_text(json.dumps(content, indent=2, sort_keys=True), encoding="utf-8")
            super().__init__(scope, id, path=str(file))


def script(scope: Construct, id: str, name: str) -> assets.Asset:
    """A script of this package, uploaded."""
    return assets.Asset(scope, id, path=str(SCRIPTS / name))
