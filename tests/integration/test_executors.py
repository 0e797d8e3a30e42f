"""Executors append the rows of one commit, and one of them dies while it writes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lake.config.environment import load_environment
from lake.local.spark_submit import spark_environment
from tests.integration.stage_on_executors import BUCKETS, ROWS

pytestmark = pytest.mark.integration


def test_what_a_killed_executor_began_is_in_no_read(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.integration.stage_on_executors", str(tmp_path)]
    home = load_environment()
    ran = subprocess.run(command, env=spark_environment(home, {}), cwd=home.root, stdout=subprocess.PIPE, check=True)
    found = json.loads(ran.stdout)
    assert (found["rows"], found["all"]) == (ROWS, ROWS)
    assert found["files"] == found["committed"] and len(found["files"]) == BUCKETS
