"""jars/SHA256SUMS: every downloaded file and its SHA-256, checked after each download."""

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

DOWNLOADS = ("build/kafka", "build/connect", "build/registry", "build/spark", "build/aws", "build/utilities")
OURS = (  # built here, so not listed
    "build/connect/apicurio/apicurio-converter-service.jar",
    "build/connect/debezium/lake-transforms.jar",
    "build/connect/secrets/lake-secrets.jar",
    "build/spark/lake-index.jar",
    "build/streamer/hudi-utilities.jar",
    "build/streamer/lake-streamer.jar",
)
LIST = "jars/SHA256SUMS"
REMEDY = (
    "run `make setup` to fetch it again; if the same comes back, remove the copy of this artifact in "
    "~/.m2/repository; after an intended change of a version run `make lock`"
)


class JarsDiffer(Exception):
    """Raised when downloaded files differ from the list; one line per file."""


def check(root: Path) -> str:
    """Compare build/ with the list. A file that differs is deleted, so that it can never be run."""
    expected = read(root)
    found = hashes(root)
    removed = [remove(root, name) for name in sorted(found.keys() - expected.keys())]
    wrong = [name for name in sorted(expected) if found.get(name) != expected[name]]
    if wrong:
        raise JarsDiffer("\n".join(differs(root, name, expected[name], found.get(name)) for name in wrong))
    return "\n".join([f"{len(expected)} files are as listed in {LIST}", *removed])


def differs(root: Path, name: str, expected: str, found: str | None) -> str:
    """One line: what is wrong, where, what to do."""
    (root / name).unlink(missing_ok=True)
    seen = f"found {found}, deleted" if found else "not downloaded"
    return f"{name}: expected sha256 {expected}, {seen}; {REMEDY}"


def remove(root: Path, name: str) -> str:
    """A jar that is not on the list (left by an older version) must not stay on a class path."""
    (root / name).unlink()
    return f"removed {name}: not listed in {LIST}"


def read(root: Path) -> dict[str, str]:
    """The list: name -> SHA-256."""
    lines = (root / LIST).read_text().splitlines()
    return {name: digest for digest, name in (line.split(maxsplit=1) for line in lines)}


def write(root: Path) -> str:
    """Accept the present files in build/."""
    found = hashes(root)
    (root / LIST).write_text("".join(f"{found[name]}  {name}\n" for name in sorted(found)))
    return f"{len(found)} files listed in {LIST}"


def all_there(root: Path) -> bool:
    """True if every listed file exists; the content is not checked."""
    return all((root / name).is_file() for name in [*read(root), *OURS])


def hashes(root: Path) -> dict[str, str]:
    names = sorted(downloaded(root))
    with ThreadPoolExecutor() as pool:
        return dict(zip(names, pool.map(lambda name: sha256(root / name), names), strict=True))


def downloaded(root: Path) -> Iterator[str]:
    for folder in DOWNLOADS:
        for path in (root / folder).rglob("*"):
            name = path.relative_to(root).as_posix()
            if path.is_file() and name not in OURS:
                yield name


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
