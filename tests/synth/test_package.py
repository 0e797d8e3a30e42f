"""dist/: the same bytes from the same sources, each file listed, and the very files that the stacks upload."""

import hashlib
import os
import shutil
import struct
import zipfile
from pathlib import Path

import pytest

from lake.aws.environment import load_aws_environment
from lake.aws.package import Package, build, write_manifest
from lake.config.definition import load_databases
from tests.synth.synthesis import ROOT, Synthesized

JAVA_8 = 52  # the version of its class files
TIMES = (1_000_000_000, 2_000_000_000)


def copied(root: Path, time: int) -> Path:
    """The project in another folder, its sources dated differently; what make setup fetched is shared."""
    root.mkdir()
    for name in ("build", "jars"):
        (root / name).symlink_to(ROOT / name)
    for name in ("spark_jobs", "connector_configs", "databases"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pom.xml", root)
    for path in [*(root / "spark_jobs").rglob("*"), *(root / "databases").rglob("*")]:
        os.utime(path, (time, time))
    return root


def packaged(root: Path) -> Package:
    return build(root, load_aws_environment(ROOT, "prod"), load_databases(root))


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def contents(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): digest(path) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The same sources, built in two folders at two times."""
    roots = [copied(tmp_path_factory.mktemp("package") / "project", time) for time in TIMES]
    for root in roots:
        packaged(root)
        write_manifest(root)
    return roots


def test_two_builds_are_byte_for_byte_the_same(twice: list[Path]) -> None:
    first, second = (contents(root / "dist") for root in twice)
    assert first == second
    assert {"spark_jobs.zip", "plugins.tar.gz", "manifest.json", "jobs/stream.py", "jobs/streamer.py"} <= set(first)


def test_the_manifest_lists_every_file(twice: list[Path]) -> None:
    dist = twice[0] / "dist"
    listed = write_manifest(twice[0])["files"]
    found = contents(dist)
    del found["manifest.json"]
    assert {name: file["sha256"] for name, file in listed.items()} == found
    assert listed["jobs/stream.py"]["bytes"] == (ROOT / "spark_jobs" / "stream.py").stat().st_size


def test_a_changed_source_changes_the_package(twice: list[Path], tmp_path: Path) -> None:
    root = copied(tmp_path / "project", TIMES[0])
    (root / "spark_jobs" / "turns.py").write_text("# nothing\n")
    assert digest(packaged(root).code) != digest(twice[0] / "dist" / "spark_jobs.zip")


def test_the_zip_is_the_package_that_the_scripts_import(twice: list[Path]) -> None:
    with zipfile.ZipFile(twice[0] / "dist" / "spark_jobs.zip") as archive:
        names = set(archive.namelist())
    assert names == {path.relative_to(ROOT).as_posix() for path in (ROOT / "spark_jobs").rglob("*.py")}


def test_emr_6_can_load_our_jars(twice: list[Path]) -> None:
    jars = twice[0] / "dist" / "jars"
    (login,) = (jars / "worker").glob("aws-msk-iam-auth-2.3.4-all.jar")
    assert versions(jars / "lake-streamer.jar", "lake/streamer/") == {JAVA_8}
    assert versions(jars / "spark" / "lake-index.jar", "lake/hudi/") == {JAVA_8}
    assert max(versions(login, "software/amazon/msk/")) <= JAVA_8


def versions(jar: Path, prefix: str) -> set[int]:
    """The versions of the class files below a package."""
    with zipfile.ZipFile(jar) as archive:
        names = [name for name in archive.namelist() if name.startswith(prefix) and name.endswith(".class")]
        assert names
        return {struct.unpack(">H", archive.read(name)[6:8])[0] for name in names}


def test_the_stacks_upload_these_very_files(prod: Synthesized) -> None:
    uploaded = {digest(path) for path in prod.folder.glob("asset.*") if path.is_file()}
    package = packaged(ROOT)
    wanted = [
        package.code,
        package.plugins,
        package.jobs / "stream.py",
        package.jobs / "pools.xml",
        package.rendered / "pipeline-silver.json",
        package.rendered / "streamer.json",
        package.streamer,
        *package.jars,
    ]
    assert {path.name for path in wanted if digest(path) not in uploaded} == set()
