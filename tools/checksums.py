"""jars/SHA256SUMS and its like: every downloaded file and its SHA-256, checked after each download."""

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Jars:
    """Downloaded files: their list, their folders, and what is built into the same folders, and so is not listed."""

    list: str
    folders: tuple[str, ...]
    ours: tuple[str, ...]


DEFAULT = Jars(
    "jars/SHA256SUMS",
    ("build/kafka", "build/connect", "build/registry", "build/spark", "build/aws", "build/utilities", "build/profile"),
    (
        "build/connect/apicurio/apicurio-converter-service.jar",
        "build/connect/debezium/lake-transforms.jar",
        "build/connect/secrets/lake-secrets.jar",
        "build/spark/lake-index.jar",
        "build/streamer/hudi-utilities.jar",
        "build/streamer/lake-streamer.jar",
    ),
)
REMEDY = (
    "run `make setup` to fetch it again; if the same comes back, remove the copy of this artifact in "
    "~/.m2/repository; after an intended change of a version run `make lock`"
)


class JarsDiffer(Exception):
    """Raised when downloaded files differ from the list; one line per file."""


def of_release(name: str) -> Jars:
    """What the local lake needs more to run on the Spark and the Hudi of another release of EMR than the default."""
    folder = f"build/{name}/spark"
    return Jars(f"jars/SHA256SUMS.{name}", (folder,), (f"{folder}/lake-index.jar",))


def check(root: Path, jars: Jars = DEFAULT) -> str:
    """Compare build/ with the list. A file that differs is deleted, so that it can never be run."""
    expected = read(root, jars)
    found = hashes(root, jars)
    removed = [remove(root, jars, name) for name in sorted(found.keys() - expected.keys())]
    wrong = [name for name in sorted(expected) if found.get(name) != expected[name]]
    if wrong:
        raise JarsDiffer("\n".join(differs(root, name, expected[name], found.get(name)) for name in wrong))
    return "\n".join([f"{len(expected)} files are as listed in {jars.list}", *removed])


def differs(root: Path, name: str, expected: str, found: str | None) -> str:
    """One line: what is wrong, where, what to do."""
    (root / name).unlink(missing_ok=True)
    seen = f"found {found}, deleted" if found else "not downloaded"
    return f"{name}: expected sha256 {expected}, {seen}; {REMEDY}"


def remove(root: Path, jars: Jars, name: str) -> str:
    """A jar that is not on the list (left by an older version) must not stay on a class path."""
    (root / name).unlink()
    return f"removed {name}: not listed in {jars.list}"


def read(root: Path, jars: Jars) -> dict[str, str]:
    """The list: name -> SHA-256."""
    lines = (root / jars.list).read_text().splitlines()
    return {name: digest for digest, name in (line.split(maxsplit=1) for line in lines)}


def write(root: Path, jars: Jars = DEFAULT) -> str:
    """Accept the present files in build/."""
    found = hashes(root, jars)
    (root / jars.list).write_text("".join(f"{found[name]}  {name}\n" for name in sorted(found)))
    return f"{len(found)} files listed in {jars.list}"


def all_there(root: Path, jars: Jars = DEFAULT) -> bool:
    """True if every listed file exists; the content is not checked."""
    return all((root / name).is_file() for name in [*read(root, jars), *jars.ours])


def hashes(root: Path, jars: Jars) -> dict[str, str]:
    names = sorted(downloaded(root, jars))
    with ThreadPoolExecutor() as pool:
        return dict(zip(names, pool.map(lambda name: sha256(root / name), names), strict=True))


def downloaded(root: Path, jars: Jars) -> Iterator[str]:
    for folder in jars.folders:
        for path in (root / folder).rglob("*"):
            name = path.relative_to(root).as_posix()
            if path.is_file() and name not in jars.ours:
                yield name


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
