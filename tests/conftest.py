"""Guards and fixtures shared by all tests."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
pytest_plugins = ["tests.running_lake"]  # tests/integration and tests/faults share one lake

# A test would come too late: collection itself dies on it.
if (ROOT / "constructs" / "__init__.py").exists():
    raise pytest.UsageError(
        "constructs/ must stay without __init__.py: with one it hides the PyPI package `constructs` that "
        "aws-cdk-lib imports. Delete constructs/__init__.py."
    )
