"""The uploaded files of the jobs: the PySpark package, the scripts, the jars and the start scripts."""

from collections.abc import Sequence
from pathlib import Path

from aws_cdk import aws_s3_assets as assets
from constructs import Construct

SCRIPTS = Path(__file__).parent / "scripts"


class JobCode(Construct):
    """The zipped folder spark_jobs/, unchanged from the local lake, and the jars that are missing on the cluster."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        package: Path,
        jobs: Path,
        jars: Sequence[Path],
        streamer: Path,
        scripts: Sequence[str],
        starters: Sequence[str],
    ) -> None:
        super().__init__(scope, id)
        self.package = assets.Asset(self, "Package", path=str(package))
        self.pools = assets.Asset(self, "Pools", path=str(jobs / "pools.xml"))
        self.jars = [assets.Asset(self, jar.name, path=str(jar)) for jar in jars]
        self.streamer = assets.Asset(self, streamer.name, path=str(streamer))
        self.scripts = {name: assets.Asset(self, f"Script-{name}", path=str(jobs / f"{name}.py")) for name in scripts}
        self.starters = {name: script(self, name, f"{name}.sh") for name in starters}

    @property
    def parts(self) -> list[assets.Asset]:
        return [self.package, self.pools, *self.jars, self.streamer, *self.scripts.values(), *self.starters.values()]


def script(scope: Construct, id: str, name: str) -> assets.Asset:
    """A script of this package, uploaded."""
    return assets.Asset(scope, id, path=str(SCRIPTS / name))
