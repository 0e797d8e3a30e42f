"""The synthesized lakes as fixtures."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.synth.synthesis import ENVIRONMENTS, Synthesized, synthesize

LINT = "test_cfn_lint.py"
# W3005: the CDK writes dependencies that a reference already implies.
# W3037, W1030 and the like are warnings about policies' wording; errors alone stop a deployment.
IGNORED = ["W3005"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The test that waits for cfn-lint comes last."""
    items.sort(key=lambda item: item.path.name == LINT)


@pytest.fixture(scope="session", autouse=True)
def cfn_lint(request: pytest.FixtureRequest) -> Iterator["subprocess.Popen[str] | None"]:
    """Started first where it is asked for: it takes seconds, and meanwhile the other tests run."""
    if not any(item.path.name == LINT for item in request.session.items):
        yield None
        return
    # Production and demo: between them they hold every resource that the stacks can make.
    folders = [synthesize(name).folder for name in ("prod", "demo")]
    paths = [str(path) for folder in folders for path in sorted(folder.glob("*.template.json"))]
    command = [str(Path(sys.executable).parent / "cfn-lint"), "--ignore-checks", *IGNORED, "--", *paths]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
        yield running


@pytest.fixture(scope="session", params=ENVIRONMENTS)
def lake(request: pytest.FixtureRequest) -> Synthesized:
    return synthesize(request.param)


@pytest.fixture(scope="session")
def dev() -> Synthesized:
    return synthesize("dev")


@pytest.fixture(scope="session")
def demo() -> Synthesized:
    return synthesize("demo")


@pytest.fixture(scope="session")
def prod() -> Synthesized:
    return synthesize("prod")
