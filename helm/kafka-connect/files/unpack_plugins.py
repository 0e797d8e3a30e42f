"""Checks the plug-in bundle against its SHA-256 and unpacks it.

    python3 unpack_plugins.py <bundle.tar.gz> <sha256> <target folder>

Deletes the archive. Exit codes: 0 unpacked, 2 the bundle is wrong; then none of its files is left.
"""

import hashlib
import shutil
import sys
import tarfile
from pathlib import Path


class BadBundle(Exception):
    """The bundle must not be used."""


def main(arguments: list[str]) -> int:
    archive, digest, target = Path(arguments[0]), arguments[1], Path(arguments[2])
    try:
        check(archive, digest)
        unpack(archive, target)
    except (BadBundle, tarfile.TarError) as problem:
        shutil.rmtree(target, ignore_errors=True)
        print(f"the plug-in bundle can't be used: {problem}", file=sys.stderr)
        return 2
    finally:
        archive.unlink(missing_ok=True)
    return 0


def check(archive: Path, digest: str) -> None:
    """BadBundle unless the file has the SHA-256. An untested bundle is not even opened as an archive."""
    with archive.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != digest:
        raise BadBundle(f"expected sha256 {digest}, found {found}; upload the bundle that the values name")


def unpack(archive: Path, target: Path) -> None:
    """Unpacks into an empty folder: a jar of an older bundle must not stay on the plug-in path."""
    shutil.rmtree(target, ignore_errors=True)
    with tarfile.open(archive, "r:gz") as bundle:
        # Refuses absolute names, links and names that lead out of target.
        bundle.extractall(target, filter="data")
    if not list(target.glob("plugins/*/*.jar")):
        raise BadBundle("it holds no plugins/<name>/*.jar; build it with one folder per plug-in below plugins/")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
