"""What the shared lake holds for the acceptance cases."""

import pytest
from pyspark.sql import SparkSession

from tests.acceptance.museum import ALL_VIEWS, Changed, Compacted, Museum, Replayed, Seen
from tests.running_lake import RunningLake


@pytest.fixture(scope="session")
def museum(lake: RunningLake, spark: SparkSession) -> Museum:
    """The MoMA collection in the lake, as it was before any change: twice, under both replica identities."""
    museum = Museum(lake, spark)
    museum.open()
    return museum


@pytest.fixture(scope="session")
def arrived(museum: Museum) -> Seen:
    """All rows of all views before any change."""
    return museum.read(*ALL_VIEWS)


@pytest.fixture(scope="session")
def changed(museum: Museum) -> Changed:
    """The changes of A9 to A17, drained one after the other, and what was seen after each."""
    return museum.change()


@pytest.fixture(scope="session")
def compacted(museum: Museum, changed: Changed) -> Compacted:
    """All tables after a compaction."""
    return museum.compact()


@pytest.fixture(scope="session")
def replayed(museum: Museum, changed: Changed) -> Replayed:
    """All of the artists' topics written once more from offset 0, over the newer rows."""
    return museum.replay()


@pytest.fixture(scope="session")
def compacted_after_replay(museum: Museum, replayed: Replayed) -> Compacted:
    """All tables after a compaction that had old rows in its log."""
    return museum.compact()
