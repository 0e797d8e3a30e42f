"""Imports go one way (docs/architecture.md): each folder may name only what is listed for it."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FIRST_PARTY = {
    "app",
    "stacks",
    "lake_constructs",
    "constructs",
    "lake",
    "spark_jobs",
    "benchmarks",
    "tests",
    "tools",
}
# folder -> first-party packages it may import ("constructs" is PyPI's, see below)
ALLOWED = {
    "lake": {"lake"},
    "spark_jobs": {"spark_jobs"},
    "stacks": {"stacks", "lake_constructs", "lake", "constructs"},
    "constructs/lake_constructs": {"lake_constructs", "constructs"},
}
# The wiring of the AWS half: nothing of the local lake, no command line.
APP_MAY_USE = {"stacks", "lake"}
STACKS_MAY_USE = (
    "lake.aws",
    "lake.config.definition",
    "lake.config.errors",
    "lake.rendering.spark",
    "lake.config.versions",
)
# What runs on EMR has nothing but these beside itself.
SPARK_MAY_USE = {"pyspark", "py4j", "spark_jobs"}


def sources(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def imported(source: str) -> set[str]:
    """Full dotted names of all imports, also those inside functions."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def roots(names: set[str]) -> set[str]:
    return {name.split(".")[0] for name in names}


def forbidden(folder: str, source: str) -> set[str]:
    return (roots(imported(source)) & FIRST_PARTY) - ALLOWED[folder]


@pytest.mark.parametrize("folder", ALLOWED)
def test_a_folder_imports_only_what_lies_below_it(folder: str) -> None:
    found = {path.relative_to(ROOT).as_posix(): forbidden(folder, path.read_text()) for path in sources(folder)}
    assert {path: names for path, names in found.items() if names} == {}


def test_spark_jobs_need_nothing_but_pyspark() -> None:
    allowed = SPARK_MAY_USE | set(sys.stdlib_module_names)
    found = {path.name: roots(imported(path.read_text())) - allowed for path in sources("spark_jobs")}
    assert {name: extra for name, extra in found.items() if extra} == {}


def test_the_local_runtime_does_not_know_the_command_line() -> None:
    found = [path.name for path in sources("lake/local") if "lake.cli.main.app" in imported(path.read_text())]
    assert found == []


def test_lake_starts_without_the_cdk() -> None:
    """`import aws_cdk` alone takes longer than most commands."""
    found = [path.name for path in sources("lake") if "aws_cdk" in roots(imported(path.read_text()))]
    assert found == []


def test_the_app_wires_stacks_and_nothing_else() -> None:
    assert roots(imported((ROOT / "app.py").read_text())) & FIRST_PARTY <= APP_MAY_USE


def test_stacks_know_the_definition_and_nothing_that_runs() -> None:
    names = {name for path in sources("stacks") for name in imported(path.read_text()) if name.startswith("lake.")}
    assert {name for name in names if not name.startswith(STACKS_MAY_USE)} == set()


def test_constructs_is_always_the_package_from_pypi() -> None:
    """`constructs.lake_constructs` would give every class a second identity."""
    every = [path for folder in (*ALLOWED, "tests", "tools") for path in sources(folder)]
    assert [
        path.name for path in every if "constructs.lake_constructs" in path.read_text() and path != Path(__file__)
    ] == []


@pytest.mark.parametrize(
    ("folder", "planted", "found"),
    [
        ("lake", "def f():\n    import spark_jobs.hudi.table", {"spark_jobs"}),
        ("lake", "from stacks import lake", {"stacks"}),
        ("spark_jobs", "from lake.config.errors import LakeError", {"lake"}),
        ("constructs/lake_constructs", "import stacks.lake", {"stacks"}),
        ("lake", "import json\nfrom . import errors\nfrom lake import plan", set()),
    ],
)
def test_a_planted_import_is_found(folder: str, planted: str, found: set[str]) -> None:
    assert forbidden(folder, planted) == found
