"""What the shared lake holds for the acceptance cases, and the page of their results."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.acceptance.cases import DEVIATION, Result, numbers, page
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


RESULTS = pytest.StashKey[dict[str, Result]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cases", type=Path, help="write the table of the acceptance cases to this Markdown file")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[RESULTS] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    report = yield
    name, results = item.nodeid.partition("[")[0], item.config.stash[RESULTS]
    if numbers(name.rpartition("::")[2]):
        marks = "; ".join(mark.args[0] for mark in item.iter_markers(DEVIATION))
        before = results.get(item.nodeid)
        results[item.nodeid] = Result(name, report.passed and (before is None or before.passed), marks)
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """The page of a run that ran all cases; fewer would make the others look untested."""
    place = session.config.getoption("--cases", None)
    if place:
        place.write_text(page(session.config.stash[RESULTS].values()), encoding="utf-8")
