"""Imports go one way (docs/architecture.md): each folder may name only what is listed for it."""

import ast
import re
import sys
from graphlib import CycleError, TopologicalSorter
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
    "iam",
    "tests",
    "tools",
}
# folder -> first-party packages it may import ("constructs" is PyPI's, see below)
ALLOWED = {
    "lake": {"lake"},
    "spark_jobs": {"spark_jobs"},
    "stacks": {"stacks", "lake_constructs", "lake", "constructs"},
    "constructs/lake_constructs": {"lake_constructs", "constructs"},
    "iam": {"iam"},
}
# The wiring of the AWS half: nothing of the local lake, no command line.
APP_MAY_USE = {"stacks", "lake"}
STACKS_MAY_USE = (
    "lake.aws",
    "lake.config.definition",
    "lake.config.errors",
    "lake.rendering.sales",
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


# --- Inside a package.

FLOOR = re.compile(r"^\| `(lake|spark_jobs)` \| (\d+) \| `([a-z_.]+)` \|", re.MULTILINE)
HIGHEST = 9  # the longest chain of folders that a package may have
COMMANDS = "lake/cli/main.py"  # the root of the command line
OPENS = "lake/deployments/open.py"  # decides which deployment an environment is
ENVIRONMENTS = "lake/aws/environment.py"  # refuses to read the file of another kind of lake
ASKS_FOR_LOCAL = re.compile(r"(==|!=|\bin|\bis) \(?LOCAL\b|LOCAL (==|!=)")
SHARED_BY_COMMANDS = {"lake.cli.options", "lake.cli.parity_output", "lake.cli.init_output", "lake.cli.listing"}
PACKAGES = ("lake", "spark_jobs")


def floors(package: str) -> dict[str, int]:
    """The floor of each folder, as the table says; "." for files that are in no folder."""
    found = FLOOR.findall((ROOT / "docs" / "architecture.md").read_text())
    return {folder: int(floor) for name, floor, folder in found if name == package}


def modules(package: str) -> dict[str, Path]:
    """All files of a package by their full dotted names."""
    names = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in sources(package)}
    return {name.removesuffix(".__init__"): path for path, name in names.items()}


def named_modules(source: str, known: set[str]) -> set[str]:
    """Those of the known modules that a file imports."""
    found = {name if name in known else name.rpartition(".")[0] for name in imported(source)}
    return found & known


def folder_of(module: str) -> str:
    """The folder below the package: "config"; "." for a file that is in none."""
    parts = module.split(".")
    return parts[1] if len(parts) > 2 else "."


def arrows_up(module: str, source: str, known: set[str], allowed: dict[str, int]) -> set[str]:
    """The imports of a file that stay on their floor, or run back up."""
    own = folder_of(module)
    others = {name for name in named_modules(source, known) if folder_of(name) != own}
    return {name for name in others if allowed[folder_of(name)] >= allowed[own]}


def files_in_folders(package: str) -> dict[str, Path]:
    return {name: path for name, path in modules(package).items() if path.name != "__init__.py"}


@pytest.mark.parametrize("package", PACKAGES)
def test_each_folder_has_its_floor(package: str) -> None:
    assert {folder_of(name) for name in files_in_folders(package)} == set(floors(package))
    assert max(floors(package).values()) <= HIGHEST


@pytest.mark.parametrize("package", PACKAGES)
def test_no_import_runs_up(package: str) -> None:
    known, allowed = files_in_folders(package), floors(package)
    found = {name: arrows_up(name, path.read_text(), set(known), allowed) for name, path in known.items()}
    assert {name: names for name, names in found.items() if names} == {}


@pytest.mark.parametrize("package", PACKAGES)
def test_no_circle(package: str) -> None:
    known = modules(package)
    graph = {name: named_modules(path.read_text(), set(known)) - {name} for name, path in known.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as circle:
        pytest.fail(f"these files import each other: {' -> '.join(circle.args[1])}")


def test_only_the_root_of_the_command_line_imports_commands() -> None:
    known = {name for name in files_in_folders("lake") if folder_of(name) == "cli"} - SHARED_BY_COMMANDS
    others = [path for path in sources("lake") if path != ROOT / COMMANDS]
    found = {path.name: named_modules(path.read_text(), known) for path in others}
    assert {name: names for name, names in found.items() if names} == {}


def test_one_file_asks_whether_an_environment_is_local() -> None:
    found = [path for path in sources("lake") if ASKS_FOR_LOCAL.search(path.read_text())]
    assert [path.relative_to(ROOT).as_posix() for path in found if path != ROOT / ENVIRONMENTS] == [OPENS]


def test_nobody_imports_a_job() -> None:
    jobs = {name for name in files_in_folders("spark_jobs") if folder_of(name) == "."}
    found = {path.name: named_modules(path.read_text(), jobs) for path in sources("spark_jobs")}
    assert {name: names for name, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("def f():\n    from lake.cli import options", {"lake.cli.options"}),
        ("if TYPE_CHECKING:\n    from lake.deployments.open import open_deployment", {"lake.deployments.open"}),
        ("from lake.state.baseline import load", {"lake.state.baseline"}),
        ("import lake.config.files\nfrom lake.local.service import Service", set()),
    ],
)
def test_a_planted_arrow_is_found(planted: str, found: set[str]) -> None:
    known = {
        "lake.cli.options",
        "lake.deployments.open",
        "lake.state.baseline",
        "lake.config.files",
        "lake.local.service",
    }
    assert arrows_up("lake.local.stack", planted, known, floors("lake")) == found


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
