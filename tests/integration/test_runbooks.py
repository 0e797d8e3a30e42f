"""The runbooks' commands for a local lake, run page by page as they stand."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lake.config.environment import PROJECT
from lake.local.postgres import Postgres
from tests.runbooks import Block, as_told, blocks, pages, run_block
from tests.running_lake import RunningLake

pytestmark = [pytest.mark.integration, pytest.mark.slow]
PORTS = 28400
HERE = [block for page in pages() for block in blocks(page) if block.here]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLake]:
    """A lake of its own with moma, as make demo leaves one."""
    running = RunningLake(tmp_path_factory.mktemp("runbooks") / "lake", PORTS)
    running.databases.mkdir(parents=True)
    shutil.copy(PROJECT / "databases/moma.yaml", running.databases)
    try:
        running.run("up")
        running.run("load", "moma")
        running.apply()
        running.drain()
        yield running
    finally:
        running.run("teardown", "--yes")


@pytest.mark.parametrize("block", HERE, ids=lambda block: block.page)
def test_the_commands_do_what_the_page_says(block: Block, lake: RunningLake) -> None:
    tools = [Path(sys.executable).parent, Postgres(lake.home).bin]
    path = os.pathsep.join([*map(str, tools), os.environ["PATH"]])
    environment = {**lake.environment, "PATH": path, "SOURCE": lake.home.dsn("moma")}
    # In the folder that holds databases/, as the project's own does.
    printed = run_block(block, lake.data, environment)
    assert as_told(block, printed), printed
