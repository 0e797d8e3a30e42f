"""What the jobs are made of, uploaded: the PySpark package, the main script, the jars and the start script."""

from collections.abc import Sequence
from pathlib import Path

from aws_cdk import aws_s3_assets as assets
from constructs import Construct

SCRIPTS = Path(__file__).parent / "scripts"


class JobCode(Construct):
    """The zipped folder spark_jobs/ of the local lake as it is, with the jars that the cluster lacks."""

    def __init__(
        self, scope: Construct, id: str, *, package: Path, jobs: Path, main: str, jars: Sequence[Path]
    ) -> None:
        super().__init__(scope, id)
        self.package = assets.Asset(self, "Package", path=str(package))
        self.main = assets.Asset(self, "Main", path=str(jobs / main))
        self.pools = assets.Asset(self, "Pools", path=str(jobs / "pools.xml"))
        self.jars = [assets.Asset(self, jar.name, path=str(jar)) for jar in jars]
        self.start = script(self, "Start", "start_job.sh")

    @property
    def parts(self) -> list[assets.Asset]:
        return [self.package, self.main, self.pools, *self.jars, self.start]


def script(scope: Construct, id: str, name: str) -> assets.Asset:
    """A script of this package, uploaded."""
    return assets.Asset(scope, id, path=str(SCRIPTS / name))
