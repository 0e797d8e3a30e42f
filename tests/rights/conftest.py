"""The evaluator, started once."""

from collections.abc import Iterator

import pytest

from tests.rights.judge import Judge, judge


@pytest.fixture(scope="session")
def evaluator() -> Iterator[Judge]:
    with judge() as running:
        yield running
