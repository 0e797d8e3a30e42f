"""The files of a deployment in dist/: the same sources give the same bytes. The stacks upload these files."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lake.aws.archive import files, sha256, write_tar_gz, write_zip
from lake.aws.container_files import write_container_files
from lake.aws.environment import AwsEnvironment
from lake.aws.prerequisites import (
    PLUGINS,
    STREAMER_JAR,
    WORKER,
    check_build,
    check_plugin_archive,
    cluster_jars,
    write_stand_ins,
)
from lake.aws.rendering import job_pipeline, streamer_places
from lake.aws.user_plugin import S3_SINK_CONNECTOR, unpack
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
    jars: tuple[Path, ...]  # jars that the Spark of the cluster does not have
    streamer: Path  # our classes for HoodieStreamer; the rest is in the cluster's own bundle
    plugins: Path  # the Connect plug-ins
    rendered: Path  # pipeline-<job>.json, and streamer.json; NAME.zip of a chart whose programs run without it


def build(root: Path, environment: AwsEnvironment, databases: list[Database]) -> Package:
    """Writes the files of one environment to dist/. Raises BadInput if a jar is not built yet."""
    check_build(root, environment)
    return _build(root, root, environment, databases)


def build_without_jars(root: Path, environment: AwsEnvironment, databases: list[Database], folder: Path) -> Package:
    """The same in another folder, with stand-ins for the jars: enough for templates, not for a lake."""
    check_plugin_archive(root, environment)
    write_stand_ins(root, environment, folder)
    return _build(root, folder, environment, databases)


def _build(root: Path, built: Path, environment: AwsEnvironment, databases: list[Database]) -> Package:
    """The jars are in built/build; the package is written to built/dist."""
    dist = built / DIST
    jars = cluster_jars(root, environment)
    package = Package(
        code=dist / "spark_jobs.zip",
        jobs=dist / "jobs",
        jars=tuple(dist / "jars" / jar.parent.name / jar.name for jar in jars),
        streamer=dist / "jars" / STREAMER_JAR.name,
        plugins=dist / _bundle(environment),
        rendered=dist / environment.name,
    )
    for jar, target in zip((*jars, STREAMER_JAR), (*package.jars, package.streamer), strict=True):
        _put(built / jar, target)
    with tempfile.TemporaryDirectory(prefix="lake-package-") as place:
        _put(_written_bundle(root, built, environment, Path(place)), package.plugins)
        for draft, target in _drafts(root, environment, databases, package, Path(place)):
            _put(draft, target)
    return package


def _bundle(environment: AwsEnvironment) -> str:
    """The place of the plug-ins below dist/: one for all environments that have the same."""
    if environment.connect.kind == "msk_connect":
        return "plugins.zip"
    return f"{environment.name}/plugins.tar.gz" if environment.connect.s3_sink else "plugins.tar.gz"


def _written_bundle(root: Path, built: Path, environment: AwsEnvironment, place: Path) -> Path:
    """MSK Connect takes one plug-in a connector: all jars in one folder, without those of a worker, which it has."""
    entries = _plugins(root, built, environment, place)
    if environment.connect.kind != "msk_connect":
        write_tar_gz(place / "plugins.tar.gz", entries)
        return place / "plugins.tar.gz"
    folder = place / "plugin"
    folder.mkdir()
    for name, path in entries.items():
        if name.startswith("plugins/"):
            (folder / path.name).symlink_to(path.resolve())  # fails if two plug-ins have a jar of one name
    write_zip(place / "plugins.zip", folder, files(folder, "*.jar"))
    return place / "plugins.zip"


def _drafts(
    root: Path, environment: AwsEnvironment, databases: list[Database], package: Package, place: Path
) -> Iterator[tuple[Path, Path]]:
    """Each file of the jobs, and its target."""
    write_zip(place / "code.zip", root, files(root / CODE, "*.py"))
    yield place / "code.zip", package.code
    for script in (root / CODE).iterdir():
        if script.suffix == ".xml" or (script.suffix == ".py" and "__main__" in script.read_text(encoding="utf-8")):
            yield script, package.jobs / script.name
    rendered = place / "rendered"
    _render(root, environment, databases, rendered)
    for path in files(rendered, "*"):
        yield path, package.rendered / path.relative_to(rendered)
    if environment.connect.kind == "msk_connect":
        for path in write_container_files(root, environment, databases, place / "containers"):
            yield path, package.rendered / path.name


def _plugins(root: Path, built: Path, environment: AwsEnvironment, place: Path) -> dict[str, Path]:
    """plugins/<name>/*.jar and worker/*.jar: the same files as in the local lake."""
    entries = {
        f"plugins/{path.relative_to(built / PLUGINS).as_posix()}": path for path in files(built / PLUGINS, "*.jar")
    }
    entries |= {f"worker/{path.name}": path for path in files(built / WORKER, "*.jar")}
    if environment.connect.s3_sink:
        jars = unpack(root / environment.connect.s3_sink.archive, S3_SINK_CONNECTOR, place / "s3-sink")
        entries |= {f"plugins/s3-sink/{jar.name}": jar for jar in jars}
    return entries


def _render(root: Path, environment: AwsEnvironment, databases: list[Database], folder: Path) -> None:
    folder.mkdir()
    for job in environment.processing.layered:
        text = json.dumps(job_pipeline(databases, environment, root, job), indent=2, sort_keys=True)
        (folder / f"pipeline-{job}.json").write_text(text, encoding="utf-8")
    write_streamer(databases, streamer_places(environment), folder / FILE_NAME)


def _put(draft: Path, target: Path) -> None:
    """Replaces a file in one step, and only if it differs: a deployment may read it at the same time."""
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
