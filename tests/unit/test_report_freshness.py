"""What CloudWatch is told of the jobs' status files."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "constructs/lake_constructs/scripts/report_freshness.py"


@pytest.fixture(scope="module")
def script() -> Any:
    spec = importlib.util.spec_from_file_location("report_freshness", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_worst_of_all_tables_counts(script: Any) -> None:
    silver = {
        "at": 90.0,
        "tables": {"a": {"state": "running", "lag_ms": {"p95": 1500}}, "b": {"state": "stopped", "quarantined": 2}},
    }
    bronze = {"at": 40.0, "tables": {"c": {"state": "running", "lag_ms": {"p95": None}}}}
    worst = {"ReportAge": 60.0, "Lag": 1.5, "QuarantinedMessages": 2.0, "StoppedTables": 1.0}
    assert script.measures([silver, bronze], 100.0) == worst


def test_a_table_that_hangs_lags(script: Any) -> None:
    """It commits nothing, so it has no lag of the last minute."""
    hanging = {"at": 90.0, "tables": {"a": {"state": "running", "lag_ms": {"p95": None}, "behind_s": 700.0}}}
    assert script.measures([hanging], 100.0)["Lag"] == 700.0


def test_a_job_that_never_reported_is_silent(script: Any) -> None:
    nothing = {"Lag": 0.0, "QuarantinedMessages": 0.0, "StoppedTables": 0.0}
    assert script.measures([{}], 100.0) == {"ReportAge": 86400.0, **nothing}
