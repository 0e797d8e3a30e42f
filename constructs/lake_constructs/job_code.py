"""The uploaded files of the jobs: the PySpark package, the scripts, the jars and the start scripts."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3_assets as assets
from constructs import Construct

from lake_constructs.plugin_bundle import read_asset

SCRIPTS = Path(__file__).parent / "scripts"


class JobCode(Construct):
    """The zipped folder spark_jobs/, unchanged from the local lake, and the jars that are missing on the cluster.

    Each file is known by its URL; parts are all of them. starters: none where there is no cluster.
    """

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
        templates: Mapping[str, Path],
    ) -> None:
        super().__init__(scope, id)
        self.parts: list[assets.Asset] = []
        self.package = self._url("Package", package)
        self.pools = self._url("Pools", jobs / "pools.xml")
        self.jars = [self._url(jar.name, jar) for jar in jars]
        self.streamer = self._url(streamer.name, streamer)
        self.scripts = {name: self._url(f"Script-{name}", jobs / f"{name}.py") for name in scripts}
        self.starters = {name: self._url(name, SCRIPTS / f"{name}.sh") for name in starters}
        self.templates = {name: self._url(f"Template-{name}", path) for name, path in templates.items()}
        # What a cluster alone runs: the reporter, and the bootstrap action that starts it.
        self.reporter = self._url("Reporter", SCRIPTS / "report_freshness.py") if starters else ""
        self.bootstrap = self._url("Bootstrap", SCRIPTS / "report_on_primary.sh") if starters else ""

    def read(self, urls: Iterable[str]) -> iam.PolicyStatement:
        """Read these files, and nothing else."""
        wanted = list(urls)
        return read_asset(*(part for part in self.parts if part.s3_object_url in wanted))

    def _url(self, id: str, path: Path) -> str:
        """Uploads the file."""
        self.parts.append(assets.Asset(self, id, path=str(path)))
        return self.parts[-1].s3_object_url
