"""The plug-in bundle is what was tested, or nothing of it is used."""

import hashlib
import io
import tarfile
from pathlib import Path
from types import ModuleType

import pytest

JARS = ("plugins/debezium/debezium.jar", "plugins/apicurio/converter.jar", "worker/msk-iam.jar")


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return bundle(tmp_path / "bundle.tar.gz", *JARS)


def bundle(path: Path, *names: str) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = len(name)
            tar.addfile(member, io.BytesIO(name.encode()))
    return path


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def unpacked(target: Path) -> list[str]:
    return sorted(path.relative_to(target).as_posix() for path in target.rglob("*.jar"))


def test_the_right_bundle_is_unpacked_and_the_archive_removed(unpack_plugins: ModuleType, archive: Path) -> None:
    target = archive.parent / "bundle"
    assert unpack_plugins.main([str(archive), digest(archive), str(target)]) == 0
    assert unpacked(target) == sorted(JARS)
    assert not archive.exists()


def test_jars_of_an_older_bundle_are_removed(unpack_plugins: ModuleType, archive: Path) -> None:
    target = archive.parent / "bundle"
    (target / "plugins" / "debezium").mkdir(parents=True)
    (target / "plugins" / "debezium" / "older.jar").touch()
    assert unpack_plugins.main([str(archive), digest(archive), str(target)]) == 0
    assert unpacked(target) == sorted(JARS)


def test_another_bundle_is_refused(
    unpack_plugins: ModuleType, archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found, target = digest(archive), archive.parent / "bundle"
    assert unpack_plugins.main([str(archive), "0" * 64, str(target)]) == 2
    assert f"expected sha256 {'0' * 64}, found {found}" in capsys.readouterr().err
    assert list(archive.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (("debezium/debezium.jar",), "it holds no plugins/<name>/*.jar"),
        (("plugins/debezium/a.jar", "../escaped.jar"), "outside the destination"),
    ],
)
def test_a_bundle_of_another_shape_is_refused(
    unpack_plugins: ModuleType,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    names: tuple[str, ...],
    problem: str,
) -> None:
    archive = bundle(tmp_path / "bundle.tar.gz", *names)
    assert unpack_plugins.main([str(archive), digest(archive), str(tmp_path / "bundle")]) == 2
    assert problem in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_archive_is_refused(
    unpack_plugins: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "bundle.tar.gz"
    archive.write_text("<Error>AccessDenied</Error>")
    assert unpack_plugins.main([str(archive), digest(archive), str(tmp_path / "bundle")]) == 2
    assert "the plug-in bundle can't be used: not a gzip file" in capsys.readouterr().err
