"""Random databases end equal, or refused for a known reason, or told."""

from collections import Counter
from collections.abc import Sequence

import pytest

from tests.random_databases.capture import by_init
from tests.random_databases.database import random_database
from tests.random_databases.trial import Trial
from tests.running_lake import RunningLake

pytestmark = [pytest.mark.integration, pytest.mark.slow]
ALL, EACH, LEAST_EQUAL = 200, 10, 180
PARTS = [range(first, first + EACH) for first in range(0, ALL, EACH)]
kinds: Counter[str] = Counter()  # of all parts that ran


def prove(lake: RunningLake, seeds: Sequence[int]) -> Counter[str]:
    """How many verdicts of each kind; fails where one is wrong."""
    trial = Trial(lake, [random_database(seed) for seed in seeds], by_init)
    try:
        found = trial.verdicts()
    finally:
        trial.leave()
    assert {name: verdict.faults for name, verdict in found.items() if verdict.faults} == {}
    return Counter(verdict.kind for verdict in found.values())


@pytest.mark.parametrize("seeds", PARTS, ids=lambda seeds: f"{seeds[0]}-{seeds[-1]}")
def test_all_random_databases_end_right(lake: RunningLake, seeds: range) -> None:
    kinds.update(prove(lake, seeds))


def test_most_random_databases_end_equal() -> None:
    """After all parts."""
    assert kinds.total() == ALL and kinds["equal"] >= LEAST_EQUAL
