"""Both roads have one meaning: a table that takes turns between them ends equal to one of the general road alone."""

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from lake.config import versions
from tests.spark.appended import Turns
from tests.spark.conftest import HOME

COLUMNS = "id int, name string, __deleted string, _order bigint"
WRITES = st.tuples(
    st.sampled_from(["general", "append", "append", "stage", "plan", "compact"]),
    st.dictionaries(st.integers(0, 12), st.text(max_size=3), min_size=1),
)
SLOW: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture]}
pytestmark = pytest.mark.skipif(HOME.release != versions.EMR, reason="Hudi 0.15 has other classes (ADR 37)")
Steps = list[tuple[str, dict[int, str]]]


@pytest.fixture
def end_equal(spark: SparkSession, tmp_path: Path, no_metastore: None) -> Callable[[Steps], None]:
    """Takes the steps on two tables of their own: by the roads that they name, and by the general road."""
    numbers = count()

    def take(steps: Steps) -> None:
        folder = tmp_path / str(next(numbers))
        mixed, plain = (Turns(spark, folder / name, COLUMNS, buckets=2) for name in ("mixed", "plain"))
        for turns in (mixed, plain):
            turns.general([(id, f"{id} at 1", "false", 1) for id in range(8)])
            for order, (step, values) in enumerate(steps, 2):
                if step in ("plan", "compact"):
                    turns.plan_compaction() if step == "plan" else turns.compact()
                else:
                    rows = [(id, value, "false", order) for id, value in values.items()]
                    getattr(turns, step if turns is mixed else "general")(rows)
        assert mixed.rows() == plain.rows()
        for turns in (mixed, plain):
            turns.compact()
        assert mixed.rows() == mixed.optimised() == plain.rows() == plain.optimised()

    return take


@settings(max_examples=3, **SLOW)
@given(steps=st.lists(WRITES, min_size=2, max_size=5))
def test_both_roads_end_in_equal_tables(end_equal: Callable[[Steps], None], steps: Steps) -> None:
    end_equal(steps)


@pytest.mark.slow
@settings(max_examples=20, **SLOW)
@given(steps=st.lists(WRITES, min_size=2, max_size=8))
def test_both_roads_end_in_equal_tables_of_more_commits(end_equal: Callable[[Steps], None], steps: Steps) -> None:
    end_equal(steps)
