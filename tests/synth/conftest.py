"""The synthesized lakes as fixtures."""

import pytest

from tests.synth.synthesis import ENVIRONMENTS, Synthesized, synthesize


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
