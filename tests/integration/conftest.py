"""What the shared lake holds for these tests."""

import pytest
from pyspark.sql import SparkSession

from tests.integration import crossings
from tests.integration.lab import Lab
from tests.running_lake import RunningLake


@pytest.fixture(scope="session")
def lab(lake: RunningLake, spark: SparkSession) -> Lab:
    """Small tables, captured while transactions were open; tests write and look through it."""
    lab = Lab(lake, spark)
    lab.open()
    return lab


@pytest.fixture(scope="session")
def done(lab: Lab) -> Lab:
    """All crossings have happened, and the lake holds them."""
    crossings.happen(lab)
    return lab
