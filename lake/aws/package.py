"""What is deployed, as files in dist/: the same sources give the same bytes, and the stacks upload these very files."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lake.aws.archive import files, sha256, write_tar_gz, write_zip
from lake.aws.brought_plugin import S3_SINK_CONNECTOR, BroughtPlugin
from lake.aws.environment import AwsEnvironment
from lake.aws.prerequisites import INDEX_JAR, PLUGINS, STREAMER_JAR, WORKER, check_build, jdbc_driver, spark_jars
from lake.aws.rendering import job_pipeline, streamer_places
from lake.config import versions
from lake.config.definition import Database
from lake.rendering.streamer import FILE_NAME, write_streamer

DIST = Path("dist")
MANIFEST = "manifest.json"
CODE = Path("spark_jobs")


@dataclass(frozen=True)
class Package:
    """The files of one environment."""

    code: Path  # the PySpark package, zipped
    jobs: Path  # the scripts that spark-submit is given, and pools.xml
    jars: tuple[Path, ...]  # what the cluster's Spark lacks
    streamer: Path  # our classes for HoodieStreamer; the rest is in the cluster's own bundle
    plugins: Path  # the Connect plug-ins
    rendered: Path  # pipeline-<job>.json, and streamer.json


def build(root: Path, environment: AwsEnvironment, databases: list[Database]) -> Package:
    """Writes what dist/ lacks of one environment; BadInput when something is not built yet."""
    check_build(root, environment)
    dist = root / DIST
    package = Package(
        code=dist / "spark_jobs.zip",
        jobs=dist / "jobs",
        jars=tuple(dist / "jars" / folder.name / jar.name for folder, jar in _jars(root, environment)),
        streamer=dist / "jars" / STREAMER_JAR.name,
        plugins=dist / ("plugins.tar.gz" if not environment.connect.s3_sink else f"{environment.name}/plugins.tar.gz"),
        rendered=dist / environment.name,
    )
    with tempfile.TemporaryDirectory(prefix="lake-package-") as place:
        for draft, target in _drafts(root, environment, databases, package, Path(place)):
            _put(draft, target)
    return package


def _drafts(
    root: Path, environment: AwsEnvironment, databases: list[Database], package: Package, place: Path
) -> Iterator[tuple[Path, Path]]:
    """Each file, and where it belongs."""
    write_zip(place / "code.zip", root, files(root / CODE, "*.py"))
    yield place / "code.zip", package.code
    for script in (root / CODE).iterdir():
        if script.suffix == ".xml" or (script.suffix == ".py" and "__main__" in script.read_text(encoding="utf-8")):
            yield script, package.jobs / script.name
    for (_, jar), target in zip(_jars(root, environment), package.jars, strict=True):
        yield jar, target
    yield root / STREAMER_JAR, package.streamer
    write_tar_gz(place / "plugins.tar.gz", _plugins(root, environment, place))
    yield place / "plugins.tar.gz", package.plugins
    rendered = place / "rendered"
    _render(root, environment, databases, rendered)
    for path in files(rendered, "*"):
        yield path, package.rendered / path.relative_to(rendered)


def _jars(root: Path, environment: AwsEnvironment) -> Iterator[tuple[Path, Path]]:
    """Folder and file of Kafka's connector for the release's Spark, MSK's login, PostgreSQL's driver and our index."""
    for folder in (root / spark_jars(environment), root / WORKER):
        for jar in sorted(folder.glob("*.jar")):
            yield folder, jar
    driver = jdbc_driver(root)
    for jar in (driver, root / INDEX_JAR):
        yield jar.parent, jar


def _plugins(root: Path, environment: AwsEnvironment, place: Path) -> dict[str, Path]:
    """plugins/<name>/*.jar and worker/*.jar: the very files that the local lake runs."""
    entries = {
        f"plugins/{path.relative_to(root / PLUGINS).as_posix()}": path for path in files(root / PLUGINS, "*.jar")
    }
    entries |= {f"worker/{path.name}": path for path in files(root / WORKER, "*.jar")}
    if environment.connect.s3_sink:
        sink = BroughtPlugin("s3-sink", root / environment.connect.s3_sink.archive, S3_SINK_CONNECTOR)
        entries |= {f"plugins/{sink.name}/{jar.name}": jar for jar in sink.unpack(place / sink.name)}
    return entries


def _render(root: Path, environment: AwsEnvironment, databases: list[Database], folder: Path) -> None:
    for job in environment.processing.jobs:
        content = job_pipeline(databases, environment, root, job)
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(content, indent=2, sort_keys=True)
        (folder / f"pipeline-{job}.json").write_text(text, encoding="utf-8")
    write_streamer(databases, streamer_places(), folder / FILE_NAME)


def _put(draft: Path, target: Path) -> None:
    """In one step, and only what differs: a deployment may be reading the file."""
    if target.exists() and sha256(target) == sha256(draft):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".", dir=target.parent) as place:
        shutil.copyfile(draft, Path(place) / target.name)
        (Path(place) / target.name).replace(target)


def write_manifest(root: Path) -> dict[str, Any]:
    """dist/manifest.json: each file with its SHA-256 and size in bytes, and the versions that all were made for."""
    dist = root / DIST
    (dist / MANIFEST).unlink(missing_ok=True)
    listed = {
        path.relative_to(dist).as_posix(): {"sha256": sha256(path), "bytes": path.stat().st_size}
        for path in files(dist, "*")
    }
    made_for = {name: versions.from_pom(root, name) for name in ("hudi", "spark", "debezium", "msk.auth")}
    content = {"versions": made_for, "files": listed}
    (dist / MANIFEST).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return content
