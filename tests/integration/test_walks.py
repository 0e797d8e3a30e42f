"""The walk-throughs of docs/posts: a fresh clone, one lake, all blocks in the order of the index."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from lake.config.environment import PROJECT
from lake.local.postgres import Postgres
from tests.clocks import HANG_S
from tests.runbooks import WALKS, Block, as_told, blocks, run_block
from tests.running_lake import RunningLake

pytestmark = [pytest.mark.integration, pytest.mark.slow]
PORTS = 28800
INDEX = WALKS / "README.md"
PAGES = [WALKS / name for name in re.findall(r"^\| \[[\w-]+\]\(([\w-]+\.md)\)", INDEX.read_text("utf-8"), re.MULTILINE)]
HERE = [block for page in PAGES for block in blocks(page) if block.here]
BUILT = (".venv", "build", "node_modules")  # what `make setup` makes, which every other test needs as well


@dataclass(frozen=True)
class Clone:
    """A clone of the project. settings: the block that every reader runs first; lake: the one that the pages start."""

    folder: Path
    settings: Block

    @property
    def lake(self) -> RunningLake:
        return RunningLake(self.folder / ".lake.posts", PORTS, self.folder / "posts/environments")

    def run(self, block: Block) -> str:
        """What the block prints. Of all settings of a lake only the ports are the test's."""
        home = self.lake.home
        tools = [Path(sys.executable).parent, Postgres(home).bin]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("LAKE_")}
        environment |= {
            "LAKE_PORT_BASE": str(PORTS),
            "PYTHONPATH": str(self.folder),
            "PATH": os.pathsep.join([*map(str, tools), os.environ["PATH"]]),
            # Asking for it makes the passwords, which is for `lake up` to do.
            "SOURCE": home.dsn("").rstrip("/") if home.data.exists() else "",
        }
        return run_block(replace(block, text=self.settings.text + block.text), self.folder, environment)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clone]:
    folder = tmp_path_factory.mktemp("walks") / "lake"
    subprocess.run(["git", "clone", "--quiet", "--shared", PROJECT, folder], check=True, timeout=HANG_S)
    for name in BUILT:
        (folder / name).symlink_to(PROJECT / name)
    (settings,) = [block for block in blocks(INDEX) if block.here]
    clone = Clone(folder, settings)
    try:
        yield clone
    finally:
        clone.run(Block("end", True, "lake teardown --yes\n"))


@pytest.mark.parametrize("block", HERE, ids=lambda block: block.page)
def test_the_page_prints_what_it_says(block: Block, clone: Clone) -> None:
    printed = clone.run(block)
    assert as_told(block, printed), printed


def test_every_page_is_in_the_index() -> None:
    assert sorted(PAGES) == sorted(path for path in WALKS.glob("*.md") if path.name != "README.md")
