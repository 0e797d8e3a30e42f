"""When archives and table services may begin."""

from types import SimpleNamespace
from typing import Any

import pytest

from spark_jobs.stream import Flow


@pytest.mark.parametrize(
    ("query", "failures", "has_run"),
    [
        (None, 0, False),
        (SimpleNamespace(lastProgress=None), 0, False),
        (SimpleNamespace(lastProgress={"batchId": 3}), 0, True),
        (None, 1, True),  # a table that can't go on holds nothing up
    ],
)
def test_a_table_has_run(query: Any, failures: int, has_run: bool) -> None:
    flow = Flow("spec", lambda: None)
    flow.query, flow.failures = query, failures
    assert flow.has_run() == has_run
