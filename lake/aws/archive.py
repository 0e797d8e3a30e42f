"""Reproducible archives: the same files give the same bytes, so that nothing is deployed twice."""

import gzip
import hashlib
import tarfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time a zip file can say


def files(folder: Path, pattern: str) -> list[Path]:
    return sorted(path for path in folder.rglob(pattern) if path.is_file())


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_tar_gz(target: Path, entries: Mapping[str, Path]) -> None:
    """Files by their names in the archive. Level 0, because jars are compressed already."""
    with (
        target.open("wb") as file,
        gzip.GzipFile("", "wb", 0, file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for name, path in sorted(entries.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = path.stat().st_size, 0o644
            with path.open("rb") as content:
                archive.addfile(entry, content)


def write_zip(target: Path, root: Path, paths: Iterable[Path]) -> None:
    """Paths relative to root."""
    with zipfile.ZipFile(target, "w") as archive:
        for path in paths:
            entry = zipfile.ZipInfo(path.relative_to(root).as_posix(), EPOCH)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
